package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// searches is code that decides by what an error says. It sees a line, and not what a
// variable may hold: it is a reminder, not a proof.
var searches = regexp.MustCompile(`(strings\.(Contains|HasPrefix|HasSuffix|Cut|Index|EqualFold)|regexp\.Match)\w*\(.*\.(Error|Message)\(\)|\.(Error|Message)\(\)(\[| [=!]= )`)

// What shows errors goes by their types and fields, never by their words: those are for
// people, and change. Of the SDK's own words workflows/versions.go makes types.
func TestNoSearchInMessages(t *testing.T) {
	for _, f := range codeOf(t, "internal/cli", "internal/cli/view", "internal/session", "internal/session/drive", "internal/paper/report", "worker") {
		for n, line := range strings.Split(string(f.text), "\n") {
			if searches.MatchString(line) {
				t.Errorf("%s:%d searches in a message: give the error a type\n%s", f.path, n+1, strings.TrimSpace(line))
			}
		}
	}
}
