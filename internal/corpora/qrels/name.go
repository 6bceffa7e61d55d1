package qrels

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EncodeName is a name as TREC files have it, which separate fields by white space: white
// space, control characters, "%", bytes that are not UTF-8 and a "!" at the beginning, which
// marks a line of a run that names no document, are percent-encoded. All else, such as
// "p:41312390", stays as it is.
func EncodeName(name string) string {
	plain := true
	for i, r := range name {
		if needsEncoding(r) || i == 0 && r == '!' {
			plain = false
		}
	}
	if plain {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if needsEncoding(r) || i == 0 && r == '!' {
			for _, c := range []byte(name[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

func needsEncoding(r rune) bool {
	return r == '%' || r == utf8.RuneError || unicode.IsSpace(r) || unicode.IsControl(r)
}

// DecodeName reads what EncodeName wrote.
func DecodeName(field string) (string, error) {
	if strings.IndexByte(field, '%') < 0 { // most names, and faster to see
		return field, nil
	}
	name, err := url.PathUnescape(field)
	if err != nil {
		return "", fmt.Errorf("name %.80q: a %% must be followed by two hexadecimal digits", field)
	}
	return name, nil
}
