package nq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// fault is what is wrong with one line, before file and line are known.
type fault struct {
	reason Reason
	detail string
}

func (f *fault) Error() string { return f.detail }

func faultf(r Reason, format string, args ...any) *fault {
	return &fault{r, fmt.Sprintf(format, args...)}
}

// decodeLibrary decodes line with encoding/json, strictly: field names are
// case-sensitive, a needed field may occur once, integers must be written as
// integers that fit, and half a surrogate pair is an error. It is the reference
// for lineScanner and decodes what that does not accept.
func decodeLibrary(line []byte, r *Record) (fieldSet, error) {
	r.Reset()
	if err := checkSyntax(line); err != nil {
		return 0, err
	}
	var have fieldSet
	err := eachField(line, func(name string, raw []byte) error {
		var err error
		seen := have
		switch name {
		case nameExampleID:
			have |= hasExampleID
			r.ExampleID, err = jsonInt(name, raw)
		case nameQuestion:
			have |= hasQuestion
			r.Question, err = jsonString(name, raw)
		case nameURL:
			have |= hasURL
			r.URL, err = jsonString(name, raw)
		case nameTitle:
			have |= hasTitle
			r.Title, err = jsonString(name, raw)
		case nameText:
			have |= hasText
			r.Text, err = jsonString(name, raw)
		case nameHTML:
			have |= hasHTML
			var s string
			s, err = jsonString(name, raw)
			r.HTML = append(r.HTML, s...)
		case nameTokens:
			have |= hasTokens
			if seen != have {
				r.Tokens, err = jsonTokens(raw, r.Tokens)
			}
		default:
			return nil
		}
		if err == nil && seen == have {
			return faultf(BadJSON, "field %q occurs twice", name)
		}
		return err
	})
	return have, err
}

// checkSyntax reports a syntax error with its byte offset, and refuses anything
// but an object.
func checkSyntax(line []byte) error {
	if !utf8.Valid(line) {
		return faultf(BadUTF8, "not UTF-8 at byte %d of the line", invalidAt(line))
	}
	var raw json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return faultf(BadJSON, "not JSON at byte %d of the line: %v", syntax.Offset, err)
		}
		return faultf(BadJSON, "not JSON: %v", err)
	}
	if raw = bytes.TrimLeft(raw, " \t\r\n"); raw[0] != '{' {
		return faultf(BadJSON, "the line is not a JSON object")
	}
	return nil
}

// invalidAt is the offset of the first byte that is not part of valid UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// eachField calls f with every field of a valid JSON object, in order.
func eachField(object []byte, f func(name string, raw []byte) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return faultf(BadType, "an object was expected")
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return faultf(BadJSON, "not JSON: %v", err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return faultf(BadJSON, "not JSON: %v", err)
		}
		if err := f(t.(string), raw); err != nil {
			return err
		}
	}
	return nil
}

func jsonTokens(raw []byte, tokens []Token) ([]Token, error) {
	var elems []json.RawMessage
	if err := json.Unmarshal(raw, &elems); err != nil || elems == nil {
		return tokens, faultf(BadType, "%s is not an array", nameTokens)
	}
	for i, e := range elems {
		var t Token
		seen := map[string]int{}
		err := eachField(e, func(name string, raw []byte) (err error) {
			seen[name]++
			switch name {
			case nameToken:
				t.Text, err = jsonString(name, raw)
			case nameHTMLToken:
				switch string(raw) {
				case "true", "false":
					t.HTML = string(raw) == "true"
				default:
					err = faultf(BadType, "%s is not a boolean", name)
				}
			case nameStart:
				t.Start, err = jsonOffset(name, raw)
			case nameEnd:
				t.End, err = jsonOffset(name, raw)
			}
			return err
		})
		for _, name := range []string{nameToken, nameHTMLToken, nameStart, nameEnd} {
			if err == nil && seen[name] == 0 {
				err = faultf(MissingField, "%s is missing", name)
			}
			if err == nil && seen[name] > 1 {
				err = faultf(BadJSON, "field %q occurs twice", name)
			}
		}
		if err != nil {
			f := err.(*fault)
			return tokens, faultf(f.reason, "token %d: %s", i, f.detail)
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

func jsonString(name string, raw []byte) (string, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", faultf(BadType, "%s is not a string", name)
	}
	if halfSurrogate(raw) {
		return "", faultf(BadUTF8, "%s has an escape that is half a surrogate pair", name)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", faultf(BadType, "%s: %v", name, err)
	}
	return s, nil
}

func jsonInt(name string, raw []byte) (int64, error) {
	var v *int64
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return 0, faultf(BadType, "%s is not an integer that fits 64 bits: %.40s", name, raw)
	}
	return *v, nil
}

// jsonOffset reads an offset; one beyond 32 bits cannot lie in a document.
func jsonOffset(name string, raw []byte) (int32, error) {
	v, err := jsonInt(name, raw)
	if err == nil && v != int64(int32(v)) {
		err = faultf(BadOffset, "%s is %d, beyond any document", name, v)
	}
	return int32(v), err
}

// halfSurrogate reports an escaped surrogate without its partner in a valid JSON
// string; encoding/json would read it as U+FFFD.
func halfSurrogate(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i++; raw[i] != 'u' {
			continue
		}
		_, n := escape(raw[i+1:])
		if n == 0 {
			return true
		}
		i += n
	}
	return false
}
