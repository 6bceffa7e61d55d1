package nq

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/values"
)

// Fault says what is wrong with a record; its file and line are added later.
type Fault struct {
	Reason Reason
	Detail string
}

func (f *Fault) Error() string { return f.Detail }

func Faultf(r Reason, format string, args ...any) *Fault {
	return &Fault{r, fmt.Sprintf(format, args...)}
}

// lenient accepts, in values that no record needs, repeated names and any escapes.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decodeLibrary decodes line with encoding/json/v2, strictly: names are case-sensitive, needed fields occur once, integers
// are written as such and fit, half a surrogate pair is an error. It is lineScanner's reference, and decodes the lines that
// lineScanner refuses, at 11 times the processor time.
func decodeLibrary(line []byte, r *Record) (fieldSet, error) {
	r.Reset()
	if err := checkSyntax(line); err != nil {
		return 0, err
	}
	return readObject(jsontext.NewDecoder(bytes.NewBuffer(line), lenient), []field{
		{nameExampleID, hasExampleID, into(&r.ExampleID, readInt)}, {nameQuestion, hasQuestion, into(&r.Question, readText)},
		{nameURL, hasURL, into(&r.URL, readText)}, {nameTitle, hasTitle, into(&r.Title, readText)},
		{nameText, hasText, into(&r.Text, readText)}, {nameHTML, hasHTML, into(&r.HTML, readBytes)},
		{nameTokens, hasTokens, into(&r.Tokens, readTokens)},
	})
}

// checkSyntax reports a syntax error with its byte offset, and refuses anything but an object.
func checkSyntax(line []byte) error {
	if !utf8.Valid(line) {
		return Faultf(BadUTF8, "not UTF-8 at byte %d of the line", values.InvalidUTF8(line))
	}
	var value jsontext.Value
	err := json.Unmarshal(line, &value, lenient)
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return Faultf(BadJSON, "not JSON at byte %d of the line: %v", syntax.ByteOffset, syntax.Err)
	}
	if err != nil {
		return Faultf(BadJSON, "not JSON: %v", err)
	}
	if value.Kind() != jsontext.KindBeginObject {
		return Faultf(BadJSON, "the line is not a JSON object")
	}
	return nil
}

// field is a needed field of an object; read takes its value from the decoder.
type field struct {
	name string
	bit  fieldSet
	read func(d *jsontext.Decoder, name string) error
}

func into[T any](to *T, read func(*jsontext.Decoder, string) (T, error)) func(*jsontext.Decoder, string) error {
	return func(d *jsontext.Decoder, name string) (err error) {
		*to, err = read(d, name)
		return err
	}
}

// readObject reads an object and returns its fields. The syntax was checked before, so the decoder gives no errors.
func readObject(d *jsontext.Decoder, fields []field) (have fieldSet, err error) {
	if d.PeekKind() != jsontext.KindBeginObject {
		return 0, Faultf(BadType, "an object was expected")
	}
	d.ReadToken()
	var name []byte
	for d.PeekKind() == jsontext.KindString {
		raw, _ := d.ReadValue()
		name, _ = jsontext.AppendUnquote(name[:0], raw)
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == string(name) })
		if i < 0 {
			d.SkipValue()
			continue
		}
		f := &fields[i]
		if have&f.bit != 0 {
			return have, Faultf(BadJSON, "field %q occurs twice", f.name)
		}
		have |= f.bit
		if err := f.read(d, f.name); err != nil {
			return have, err
		}
	}
	d.ReadToken()
	return have, nil
}

func readTokens(d *jsontext.Decoder, name string) (tokens []Token, err error) {
	if d.PeekKind() != jsontext.KindBeginArray {
		return nil, Faultf(BadType, "%s is not an array", name)
	}
	d.ReadToken()
	var t Token
	fields := []field{
		{nameToken, 1, into(&t.Text, readText)}, {nameHTMLToken, 2, into(&t.HTML, readBool)},
		{nameStart, 4, into(&t.Start, readOffset)}, {nameEnd, 8, into(&t.End, readOffset)},
	}
	for i := 0; d.PeekKind() != jsontext.KindEndArray; i++ {
		have, err := readObject(d, fields)
		for _, f := range fields {
			if err == nil && have&f.bit == 0 {
				err = Faultf(MissingField, "%s is missing", f.name)
			}
		}
		if err != nil {
			f := err.(*Fault)
			return nil, Faultf(f.Reason, "token %d: %s", i, f.Detail)
		}
		tokens = append(tokens, t)
	}
	d.ReadToken()
	return tokens, nil
}

func readText(d *jsontext.Decoder, name string) (string, error) {
	b, err := readBytes(d, name)
	return string(b), err
}

func readBytes(d *jsontext.Decoder, name string) ([]byte, error) {
	raw, _ := d.ReadValue()
	if raw.Kind() != jsontext.KindString {
		return nil, Faultf(BadType, "%s is not a string", name)
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil { // the one fault of syntax that lenient lets pass
		return nil, Faultf(BadUTF8, "%s has an escape that is half a surrogate pair", name)
	}
	return b, nil
}

func readBool(d *jsontext.Decoder, name string) (bool, error) {
	raw, _ := d.ReadValue()
	if k := raw.Kind(); k != jsontext.KindTrue && k != jsontext.KindFalse {
		return false, Faultf(BadType, "%s is not a boolean", name)
	}
	return raw.Kind() == jsontext.KindTrue, nil
}

func readInt(d *jsontext.Decoder, name string) (int64, error) {
	raw, _ := d.ReadValue()
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, Faultf(BadType, "%s is not an integer that fits 64 bits: %.40s", name, raw)
	}
	return v, nil
}

// readOffset reads an offset, which must fit 32 bits to lie in a document.
func readOffset(d *jsontext.Decoder, name string) (int32, error) {
	v, err := readInt(d, name)
	if err == nil && v != int64(int32(v)) {
		err = Faultf(BadOffset, "%s is %d, beyond any document", name, v)
	}
	return int32(v), err
}
