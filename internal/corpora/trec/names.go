package trec

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// EncodeName returns a name for runs, judgments and tables between steps. It percent-encodes white space, control
// characters, "%", bytes that are not UTF-8 and, at the beginning, "!" (a run's line without a document) and "#" (a
// comment). Other characters, as in "p:41312390", stay.
func EncodeName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < '-' || r > 'z' }) { // a fast path for most names
		return name
	}
	return encoded.ReplaceAllStringFunc(name, func(s string) string { return strings.ReplaceAll(fmt.Sprintf(" % X", s), " ", "%") })
}

var encoded = regexp.MustCompile(`^[!#]|[%\p{Z}\p{Cc}\x{FFFD}]`)

// Outside gives names in files for other programs: "_" replaces ASCII white space and control characters, at which TREC's
// and tabular readers cut, and "#" at a query's beginning, a comment to trec_eval 10. Other characters stay, also "%".
type Outside struct {
	Queries bool // names begin lines
	Renamed int  // names that changed
	of      map[string]string
}

// AsItIs returns a name from Outside unchanged.
func AsItIs(name string) string { return name }

// Cuts reports whether a field of TREC's or tabular files cannot hold a character.
func Cuts(r rune) bool { return r <= ' ' || r == 0x7f }

// Name returns the outside name for a number's name, or an error if another number has it.
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

func DecodeName(field string) (string, error) {
	if strings.IndexByte(field, '%') < 0 { // a fast path for most names
		return field, nil
	}
	name, err := url.PathUnescape(field)
	if err != nil {
		return "", fmt.Errorf("name %.80q: a %% must be followed by two hexadecimal digits", field)
	}
	return name, nil
}
