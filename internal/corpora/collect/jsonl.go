package collect

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack"
)

// jsonLines reads one JSON object a line, strictly: a name that occurs twice and half a surrogate pair are faults.
type jsonLines struct {
	lines  *unpack.Lines
	wanted map[string][]want // by the first part of a path
	rec    record
	ranks  []int // by column: rank of the name that its value was found under
	dec    *jsontext.Decoder
	buf    bytes.Reader
}

// want is a column that a field may fill, the rest of the path to it, and the rank of the name among the column's.
type want struct {
	column, rank int
	rest         string
}

func newJSONLines(r io.Reader, s schema, rec record) *jsonLines {
	j := &jsonLines{lines: unpack.NewLines(r), wanted: map[string][]want{}, rec: rec, ranks: make([]int, len(s))}
	for i, c := range s {
		for rank, name := range c.aliases {
			first, rest, _ := strings.Cut(name, ".")
			j.wanted[first] = append(j.wanted[first], want{i, rank, rest})
		}
	}
	j.dec = jsontext.NewDecoder(&j.buf)
	return j
}

func (j *jsonLines) at() int64 { return int64(j.lines.Number()) }

func (j *jsonLines) next() (*record, error) {
	line, err := j.lines.Next()
	if err != nil {
		return nil, err
	}
	if j.lines.Number() == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, errBlank
	}
	if err := j.object(line); err != nil {
		return nil, err
	}
	return &j.rec, nil
}

func (j *jsonLines) object(line []byte) error {
	if !utf8.Valid(line) {
		return nq.Faultf(nq.BadUTF8, "the line is not UTF-8")
	}
	if line[0] == '[' {
		return nq.Faultf(nq.BadJSON, "the line begins with [: want one JSON object a line; of a file that is one list, make that by jq -c '.[]'")
	}
	j.buf.Reset(line)
	j.dec.Reset(&j.buf)
	clear(j.rec.values)
	j.rec.names = j.rec.names[:0]
	if err := j.read(); err != nil {
		if f := (*nq.Fault)(nil); errors.As(err, &f) {
			return err
		}
		return nq.Faultf(nq.BadJSON, "not one JSON object: %v", err)
	}
	if _, err := j.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nq.Faultf(nq.BadJSON, "text after the JSON object")
	}
	return nil
}

func (j *jsonLines) read() error {
	if open, err := j.dec.ReadToken(); err != nil {
		return err
	} else if open.Kind() != '{' {
		return nq.Faultf(nq.BadJSON, "the line is no JSON object")
	}
	for j.dec.PeekKind() != '}' {
		token, err := j.dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		j.rec.names = append(j.rec.names, name)
		wants, ok := j.wanted[name]
		if !ok {
			if err := j.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		raw, err := j.dec.ReadValue()
		if err != nil {
			return err
		}
		for _, w := range wants {
			if err := j.take(name, raw, w); err != nil {
				return err
			}
		}
	}
	_, err := j.dec.ReadToken()
	return err
}

// take sets a column from a value, unless a likelier name has set it.
func (j *jsonLines) take(name string, raw jsontext.Value, w want) error {
	if w.rest != "" {
		var ok bool
		if raw, ok = member(raw, w.rest); !ok {
			return nil
		}
	}
	v := &j.rec.values[w.column]
	if v.texts != nil && j.ranks[w.column] <= w.rank {
		return nil
	}
	got, err := valueOf(raw)
	if err != nil {
		return nq.Faultf(nq.BadType, "%.40q: %v", name, err)
	}
	if got.texts != nil || v.texts == nil {
		*v, j.ranks[w.column] = got, w.rank
	}
	return nil
}

func member(raw jsontext.Value, path string) (jsontext.Value, bool) {
	first, rest, _ := strings.Cut(path, ".")
	var fields map[string]jsontext.Value
	if raw.Kind() != '{' || json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	v, ok := fields[first]
	if ok && rest != "" {
		return member(v, rest)
	}
	return v, ok
}

var errNeither = errors.New("neither a text nor a number")

// valueOf reads a text, a number as it is written, a list of them, or an object of numbers by text.
func valueOf(raw jsontext.Value) (value, error) {
	switch raw.Kind() {
	case 'n':
		return value{null: true}, nil
	case '"', '0':
		s, err := scalar(raw)
		return value{texts: []string{s}}, err
	case '[', '{':
	default:
		return value{}, errNeither
	}
	v := value{texts: []string{}, list: true}
	object := raw.Kind() == '{'
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.ReadToken(); err != nil {
		return v, err
	}
	for k := dec.PeekKind(); k != ']' && k != '}'; k = dec.PeekKind() {
		item, err := dec.ReadValue()
		if err != nil {
			return v, err
		}
		s, err := scalar(item)
		if err != nil {
			return v, err
		}
		if object && len(v.texts) > len(v.grades) {
			v.grades = append(v.grades, s)
		} else {
			v.texts = append(v.texts, s)
		}
	}
	return v, nil
}

func scalar(raw jsontext.Value) (string, error) {
	switch raw.Kind() {
	case '0':
		return string(raw), nil
	case '"':
		s, err := jsontext.AppendUnquote(nil, raw)
		return string(s), err
	}
	return "", errNeither
}
