package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
)

// Trees are read and written here, and not by encoding/json with its reflection, since
// all configurations of a plan are, several times: of 100,000 steps that was most of the
// time of `redsi plan`.

// ParseTree reads a configuration tree from JSON: numbers kept as json.Number,
// {"$ref"} and {"$artifact"} objects as Input.
func ParseTree(b []byte) (map[string]any, error) {
	if !json.Valid(b) {
		return nil, malformed(b)
	}
	p := treeParser{b: b}
	p.space()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case Input:
		return nil, errors.New("an input, not a configuration")
	case nil:
		return nil, nil
	}
	return nil, json.Unmarshal(b, new(map[string]any)) // says what it is
}

// malformed says what is wrong with JSON.
func malformed(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(new(any)); err != nil {
		return err
	}
	return errors.New("more than one JSON value")
}

// treeParser reads JSON that is valid.
type treeParser struct {
	b []byte
	i int
}

// space goes over white space.
func (p *treeParser) space() {
	for p.i < len(p.b) && p.b[p.i] <= ' ' {
		p.i++
	}
}

// next goes over one character and the white space behind it.
func (p *treeParser) next() {
	p.i++
	p.space()
}

func (p *treeParser) value() (any, error) {
	switch p.b[p.i] {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return p.text()
	case 't':
		p.i += len("true")
		return true, nil
	case 'f':
		p.i += len("false")
		return false, nil
	case 'n':
		p.i += len("null")
		return nil, nil
	}
	from := p.i
	for p.i < len(p.b) && bytes.IndexByte([]byte("+-.0123456789Ee"), p.b[p.i]) >= 0 {
		p.i++
	}
	return json.Number(p.b[from:p.i]), nil
}

func (p *treeParser) object() (any, error) {
	from := p.i
	m := map[string]any{}
	for p.next(); p.b[p.i] != '}'; {
		if p.b[p.i] == ',' {
			p.next()
		}
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		p.space()
		p.next() // the colon
		if m[name], err = p.value(); err != nil {
			return nil, err
		}
		p.space()
	}
	p.i++
	if !isInput(m) {
		return m, nil
	}
	var in Input
	if err := json.Unmarshal(p.b[from:p.i], &in); err != nil {
		return nil, err
	}
	return in, nil
}

func (p *treeParser) array() (any, error) {
	list := []any{}
	for p.next(); p.b[p.i] != ']'; {
		if p.b[p.i] == ',' {
			p.next()
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		p.space()
	}
	p.i++
	return list, nil
}

func (p *treeParser) text() (text string, err error) {
	from, plain := p.i, true
	for p.i++; p.b[p.i] != '"'; p.i++ {
		if p.b[p.i] == '\\' {
			plain = false
			p.i++
		} else if p.b[p.i] > '~' {
			plain = false
		}
	}
	p.i++
	if plain {
		return string(p.b[from+1 : p.i-1]), nil
	}
	err = json.Unmarshal(p.b[from:p.i], &text)
	return text, err
}

func isInput(m map[string]any) bool {
	if len(m) != 1 {
		return false
	}
	_, ref := m[refField]
	_, art := m[artifactField]
	return ref || art
}

// appendTree appends a tree as json.Marshal writes it.
func appendTree(b []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case string:
		return appendText(b, v)
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case []any:
		if v == nil {
			break
		}
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendTree(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		if v == nil {
			break
		}
		b = append(b, '{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendText(b, k); err != nil {
				return nil, err
			}
			if b, err = appendTree(append(b, ':'), v[k]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	t, err := json.Marshal(v)
	return append(b, t...), err
}

func appendText(b []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			t, err := json.Marshal(s)
			return append(b, t...), err
		}
	}
	b = append(append(b, '"'), s...)
	return append(b, '"'), nil
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
