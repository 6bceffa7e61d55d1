package archtest

import (
	"os"
	"path/filepath"
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
	for _, dir := range []string{"internal/cli", "internal/cli/view", "internal/session", "internal/session/drive", "internal/paper/report", "worker"} {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", dir, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for n, line := range strings.Split(string(b), "\n") {
				if searches.MatchString(line) {
					t.Errorf("%s:%d searches in a message: give the error a type\n%s", f, n+1, strings.TrimSpace(line))
				}
			}
		}
	}
}
