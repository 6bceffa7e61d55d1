package step

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Canonical writes a configuration tree in the one form that is hashed: objects
// with sorted keys, no white space, strings in UTF-8 with only the escapes that
// JSON requires, numbers in shortest form (an integral value without exponent
// or point), inputs as {"$input": digest}. Equal trees give equal bytes on any
// machine and Go version.
//
// The tree is made of map[string]any, []any, string, bool, nil, Input and the
// number types json.Number, int64 and float64; anything else, a non-finite
// number or invalid UTF-8 is an error: a key that cannot be complete must not
// exist.
func Canonical(tree any) ([]byte, error) {
	var b bytes.Buffer
	if err := writeTree(&b, tree, canonicalLeaf); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeTree writes lists, and objects with sorted keys; leaf writes what is in them.
func writeTree(b *bytes.Buffer, v any, leaf func(*bytes.Buffer, any) error) error {
	switch v := v.(type) {
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeTree(b, e, leaf); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := canonicalString(b, k); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeTree(b, v[k], leaf); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
		b.WriteByte('}')
	default:
		return leaf(b, v)
	}
	return nil
}

// canonicalLeaf writes what is no list and no object.
func canonicalLeaf(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		return canonicalString(b, v)
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		return canonicalFloat(b, v)
	case json.Number:
		return canonicalNumber(b, v)
	case Input:
		return canonicalInput(b, v)
	default:
		return fmt.Errorf("a value of type %T has no canonical form", v)
	}
	return nil
}

func canonicalInput(b *bytes.Buffer, in Input) error {
	switch {
	case in.Artifact != nil:
		fmt.Fprintf(b, `{"%s":"%s"}`, digestField, strings.TrimSpace(in.Artifact.Digest.String()+" "+string(in.Artifact.Mode)))
		return nil
	case in.Ref != nil:
		return fmt.Errorf("%s is not known yet", in.Ref)
	}
	b.WriteString("null")
	return nil
}

func canonicalString(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not valid UTF-8", s)
	}
	b.WriteByte('"')
	from := 0 // what is written as it is
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' {
			b.WriteString(s[from:i])
			b.WriteByte('\\')
			from = i
		} else if c < 0x20 {
			b.WriteString(s[from:i])
			fmt.Fprintf(b, `\u%04x`, c)
			from = i + 1
		}
	}
	b.WriteString(s[from:])
	b.WriteByte('"')
	return nil
}

func canonicalNumber(b *bytes.Buffer, n json.Number) error {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		b.WriteString(strconv.FormatInt(i, 10))
		return nil
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", string(n))
	}
	return canonicalFloat(b, f)
}

func canonicalFloat(b *bytes.Buffer, f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v is not a finite number", f)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		b.WriteString(strconv.FormatInt(int64(f), 10))
		return nil
	}
	b.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
	return nil
}
