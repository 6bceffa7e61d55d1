package step

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"io"
	"maps"
	"slices"
)

// Trees are read token by token, and not by encoding/json with its reflection, since all
// configurations of a plan are, several times: of 100,000 steps that was most of the time
// of `redsi plan`.

// ParseTree reads a configuration tree from JSON: numbers kept as json.Number,
// {"$ref"} and {"$artifact"} objects as Input.
func ParseTree(b []byte) (map[string]any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	tree, err := readTree(d, b)
	if err == nil {
		_, err = d.ReadToken()
	}
	if err != io.EOF {
		return nil, cmp.Or(malformed(b), err)
	}
	switch v := tree.(type) {
	case map[string]any:
		return v, nil
	case Input:
		return nil, errors.New("an input, not a configuration")
	case nil:
		return nil, nil
	}
	return nil, json.Unmarshal(b, new(map[string]any)) // says what it is
}

// malformed says what is wrong with JSON; nil if nothing is.
func malformed(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(new(any)); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// readTree reads a value of the text that d decodes; an object that refers to an artifact is an Input.
func readTree(d *jsontext.Decoder, text []byte) (any, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		m, from := map[string]any{}, d.InputOffset()-1
		for d.PeekKind() != '}' {
			t, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name := t.String() // which the next token overwrites
			if m[name], err = readTree(d, text); err != nil {
				return nil, err
			}
		}
		if _, err := d.ReadToken(); err != nil || !isInput(m) {
			return m, err
		}
		var in Input
		err := json.Unmarshal(text[from:d.InputOffset()], &in)
		return in, err
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			v, err := readTree(d, text)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.ReadToken()
		return list, err
	case '"':
		return t.String(), nil
	case '0':
		return json.Number(t.String()), nil
	case 'n':
		return nil, nil
	}
	return t.Bool(), nil
}

func isInput(m map[string]any) bool {
	if len(m) != 1 {
		return false
	}
	_, ref := m[refField]
	_, art := m[artifactField]
	return ref || art
}

func sortedKeys(m map[string]any) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
