package wikipedia

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// text is raw XML text with its entities resolved, or b if that has been done.
func text(b []byte, resolved bool) (string, error) {
	if resolved {
		return string(b), nil
	}
	if !utf8.Valid(b) {
		return "", errors.New("it is not UTF-8")
	}
	return unescape(b)
}

var errEntity = errors.New("it has an unknown entity")

// unescape resolves the entities of XML text.
func unescape(b []byte) (string, error) {
	var out strings.Builder
	for {
		before, after, ok := bytes.Cut(b, []byte("&"))
		out.Write(before)
		if !ok {
			return out.String(), nil
		}
		name, rest, ok := bytes.Cut(after, []byte(";"))
		if !ok {
			return "", errEntity
		}
		r, ok := entity(string(name))
		if !ok {
			return "", errEntity
		}
		out.WriteRune(r)
		b = rest
	}
}

func entity(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	v, err := strconv.ParseUint(digits, base, 32)
	// The characters that XML 1.0 allows.
	ok = err == nil && (v == '\t' || v == '\n' || v == '\r' ||
		0x20 <= v && v <= 0xD7FF || 0xE000 <= v && v <= 0xFFFD || 0x10000 <= v && v <= 0x10FFFF)
	return rune(v), ok
}
