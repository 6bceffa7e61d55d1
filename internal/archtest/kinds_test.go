package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

var defined = regexp.MustCompile(`(?m)^var (\w+) = step\.Define\(`)

// TestEveryKindIsListed finds step kinds that nobody put into kinds.go.
func TestEveryKindIsListed(t *testing.T) {
	dir := filepath.Join("..", "..", "kinds")
	list, err := os.ReadFile(filepath.Join(dir, "kinds.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, rooms := range []string{filepath.Join(dir, "*", "*.go"), filepath.Join(dir, "internal", "*", "*.go")} {
		in, err := filepath.Glob(rooms)
		errtest.None(t, err)
		files = append(files, in...)
	}
	found := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range defined.FindAllStringSubmatch(string(b), -1) {
			found++
			if name := filepath.Base(filepath.Dir(f)) + "." + m[1]; !strings.Contains(string(list), name+",") {
				t.Errorf("%s defines %s, which kinds.go does not list", f, name)
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
	for _, s := range sources(t) {
		folder := filepath.Dir(s.path)
		b, err := os.ReadFile(filepath.Join("..", "..", s.path))
		if err != nil {
			t.Fatal(err)
		}
		said[folder] = said[folder] || regexp.MustCompile(`(?m)^// (Package|Command) [\w-]+ `).Match(b)
	}
	for folder, ok := range said {
		if !ok {
			t.Errorf("no file of %s says in a package comment what it owns", folder)
		}
	}
}
