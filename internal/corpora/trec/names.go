package trec

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// EncodeName is a name in runs, judgments and tables between steps. It percent-encodes white space, control characters,
// "%", bytes that are not UTF-8 and, at the beginning, "!" (a run's line that names no document) and "#" (a comment).
// Others, such as "p:41312390", stay.
func EncodeName(name string) string {
	if !strings.ContainsFunc(name, unusual) { // most names, and faster to see
		return name
	}
	return encoded.ReplaceAllStringFunc(name, func(s string) string { return strings.ReplaceAll(fmt.Sprintf(" % X", s), " ", "%") })
}

var encoded = regexp.MustCompile(`^[!#]|[%\p{Z}\p{Cc}\x{FFFD}]`)

func unusual(r rune) bool { return r < '-' || r > 'z' }

// Outside is a collection's name in files for other programs, with "_" for ASCII white space and control characters, at
// which TREC's and tabular readers cut, and for "#" at a query's beginning, a comment to trec_eval 10. All else stays, "%"
// too.
type Outside struct {
	Queries bool // names begin lines
	Renamed int  // names that are others outside
	of      map[string]string
}

// AsItIs spells names that Outside gave.
func AsItIs(name string) string { return name }

// Cuts reports whether a character cannot be in a field of TREC's or of tabular files.
func Cuts(r rune) bool { return r <= ' ' || r == 0x7f }

// Name is the name of what has the number. It is an error if another number has it already.
func (o *Outside) Name(number, name string) (string, error) {
	out := strings.Map(func(r rune) rune {
		if Cuts(r) {
			return '_'
		}
		return r
	}, name)
	if o.Queries && strings.HasPrefix(out, comment) {
		out = "_" + out[1:]
	}
	if o.of == nil {
		o.of = map[string]string{}
	}
	other, ok := o.of[out]
	if !ok && out != name {
		o.Renamed++
	}
	o.of[out] = number
	if ok && other != number {
		what := map[bool]string{true: "query", false: "document"}[o.Queries]
		return "", fmt.Errorf("%s %.80q is named %.80q outside redsi, where white space, and a # that begins a query's name, are \"_\", and so is %[1]s number %.40[4]s: rename one, or leave names to numbers", what, name, out, other)
	}
	return out, nil
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
