package archtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/errtest"
)

// apart are folders that are not part of the program.
var apart = []string{"bench", "tools", "internal/archtest", "assets", "examples"}

const picture = "```imports\n"

// TestPicture compares the picture of imports in docs/architecture.md with the imports
// between folders: each names the folders that it imports, all of them below it.
func TestPicture(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "architecture.md")
	b, err := os.ReadFile(path)
	errtest.None(t, err)
	before, rest, ok := strings.Cut(string(b), picture)
	got, after, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s has no picture, %q", path, picture)
	}
	var order []string // from the top down
	for line := range strings.Lines(got) {
		folder, _, _ := strings.Cut(line, "->")
		order = append(order, strings.TrimSpace(folder))
	}
	arrows := map[string]map[string]bool{}
	for _, s := range sources(t) {
		from := district(s.folder)
		if s.test || under(from, apart) {
			continue
		}
		if !slices.Contains(order, from) {
			t.Errorf("%s: folder %s is not in the picture of %s", s.path, from, path)
			order = append(order, from)
		}
		for _, imp := range s.imports {
			ours, ok := strings.CutPrefix(imp+"/", module)
			if !ok {
				continue
			}
			to := district(strings.TrimSuffix(ours, "/"))
			if to == from || under(to, apart) {
				continue
			}
			if arrows[from] == nil {
				arrows[from] = map[string]bool{}
			}
			arrows[from][to] = true
			if slices.Index(order, to) < slices.Index(order, from) {
				t.Errorf("%s imports %s: an arrow that goes up, from %s to %s", s.path, ours, from, to)
			}
		}
	}
	var want strings.Builder
	for _, folder := range order {
		to := slices.SortedFunc(maps.Keys(arrows[folder]), func(x, y string) int { return slices.Index(order, x) - slices.Index(order, y) })
		fmt.Fprintf(&want, "%-18s-> %s\n", folder, strings.Join(to, ", "))
	}
	text := strings.ReplaceAll(want.String(), "-> \n", "->\n")
	goldens.Same(t, path, before+picture+text+"```"+after)
}

// district is the folder of the picture in which a package is: one under internal, or one
// at the top, where the package of the module's root is redsi.
func district(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	switch {
	case folder == "." || folder == "":
		return "redsi.go"
	case (parts[0] == "internal" || parts[0] == "cmd") && len(parts) > 1:
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// TestDistricts: each folder under internal says in its doc.go what it is.
func TestDistricts(t *testing.T) {
	folders, err := os.ReadDir("..")
	errtest.None(t, err)
	for _, f := range folders {
		if f.Name() == "archtest" || !f.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join("..", f.Name(), "doc.go"))
		if err != nil || !strings.HasPrefix(string(b), "// Package "+f.Name()+" ") {
			t.Errorf("internal/%s/doc.go does not say what the folder is: %v", f.Name(), err)
		}
	}
}

// TestPure: nothing that redsi links has cgo, and so neither libtorch nor the tokenizers'
// library: these are the second program's. And what reads runs has nothing of what does them.
func TestPure(t *testing.T) {
	cgo := []string{"C", "github.com/sugarme/gotch", "github.com/daulet/tokenizers"}
	if n := without(t, "cmd/redsi", cgo...); n < 50 {
		t.Fatalf("it looked through %d packages only", n)
	}
	for _, folder := range []string{"internal/runs", "internal/session/journal", "internal/session/compare"} {
		without(t, folder, "go.temporal.io/")
	}
	for _, folder := range []string{"internal/session", "internal/session/steplog", "internal/session/why", "internal/sharing/accept", "internal/sharing/transfer"} {
		without(t, folder, module+"workflows", module+"activities")
	}
}

// without tells which packages among those that a program or package links import what it must not
// have, and returns how many there are.
func without(t *testing.T, program string, libraries ...string) int {
	t.Helper()
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test {
			imports[s.folder] = append(imports[s.folder], s.imports...)
		}
	}
	from := map[string]string{program: program}
	for queue := []string{program}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, imp := range imports[at] {
			if slices.ContainsFunc(libraries, func(lib string) bool { return imp == lib || lib != "C" && strings.HasPrefix(imp, lib) }) {
				t.Errorf("%s links %s, which imports %s (by %s)", program, at, imp, from[at])
			}
			ours, ok := strings.CutPrefix(imp, module)
			if imp+"/" == module {
				ours, ok = ".", true
			}
			if ok && from[ours] == "" {
				from[ours] = from[at] + " -> " + ours
				queue = append(queue, ours)
			}
		}
	}
	return len(from)
}
