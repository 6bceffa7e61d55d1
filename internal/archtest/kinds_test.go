package archtest

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var defined = regexp.MustCompile(`(?m)^var (\w+) = step\.Define\(`)

// TestEveryKindIsListed finds step kinds that nobody put into kinds.go.
func TestEveryKindIsListed(t *testing.T) {
	var list strings.Builder
	for _, f := range codeOf(t, "kinds") {
		list.Write(f.text)
	}
	found := 0
	for _, f := range sources(t) {
		if !strings.HasPrefix(f.folder, "kinds/") {
			continue
		}
		for _, m := range defined.FindAllStringSubmatch(string(f.text), -1) {
			found++
			if name := path.Base(f.folder) + "." + m[1]; !strings.Contains(list.String(), name+",") {
				t.Errorf("%s defines %s, which kinds.go does not list", f.path, name)
			}
		}
	}
	if found < 25 {
		t.Fatalf("only %d kinds found: the test looks in the wrong place", found)
	}
}

// TestEveryPackageSaysWhatItIs asks for a package comment.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said := map[string]bool{}
	for _, f := range sources(t) {
		said[f.folder] = said[f.folder] || regexp.MustCompile(`(?m)^// (Package|Command) [\w-]+ `).Match(f.text)
	}
	for folder, ok := range said {
		if !ok {
			t.Errorf("no file of %s says in a package comment what it owns", folder)
		}
	}
}
