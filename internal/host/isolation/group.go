package isolation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// group is what was found in one folder, in one way.
type group struct {
	what, folder string
	rank         int
	of           []Finding
}

// How near a finding is to the step: what its author may have written comes first.
const (
	near = iota
	ofSystem
	ofLibrary
)

// Of a folder so many findings are reported each; of one with more, so many names.
const (
	toldAlone = 3
	toldNames = 5
)

// libraries are folders that are reported as one, whatever was read in them.
var libraries = []string{"site-packages", "dist-packages", "site-library", "node_modules"}

// systems have settings and state of a machine.
var systems = []string{"/etc", "/sys", "/run", "/var"}

// place is the folder by which a finding is reported, and how near that is.
func (f Finding) place() (folder string, rank int) {
	if !filepath.IsAbs(f.Where) {
		return f.Where, near // an address
	}
	folder = filepath.Dir(f.Where)
	parts := strings.Split(folder, "/")
	for i, p := range parts {
		if slices.Contains(libraries, p) {
			return strings.Join(parts[:i+1], "/"), ofLibrary
		}
	}
	for i, p := range parts[1:] {
		if strings.HasPrefix(p, "python") && (parts[i] == "lib" || parts[i] == "lib64") { // its own modules
			return strings.Join(parts[:i+2], "/"), ofLibrary
		}
	}
	switch name := filepath.Base(f.Where); {
	case strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.") || name == "pyvenv.cfg":
		return folder, ofLibrary
	case under(f.Where, systems):
		return folder, ofSystem
	}
	return folder, near
}

// Library reports whether it is of what is installed: modules and libraries of an interpreter.
func (f Finding) Library() bool {
	_, rank := f.place()
	return rank == ofLibrary
}

// groups are the findings by folder, the nearest first.
func (f Findings) groups() []*group {
	var list []*group
	by := map[[2]string]*group{}
	for _, x := range f.List {
		folder, rank := x.place()
		k := [2]string{x.What, folder}
		g := by[k]
		if g == nil {
			g = &group{what: x.What, folder: folder, rank: rank}
			by[k] = g
			list = append(list, g)
		}
		g.of = append(g.of, x)
	}
	slices.SortStableFunc(list, func(a, b *group) int { return a.rank - b.rank })
	return list
}

// each reports whether a group's text tells each of its findings.
func (g *group) each() bool {
	return len(g.of) == 1 || g.rank != ofLibrary && len(g.of) <= toldAlone
}

func (g *group) String() string {
	if g.each() {
		return strings.Join(lists.Map(g.of, Finding.String), "; ")
	}
	s := fmt.Sprintf("%s %d files in %s", g.what, len(g.of), g.folder)
	if g.rank == ofLibrary {
		return s
	}
	names := lists.Map(g.of, func(x Finding) string { return filepath.Base(x.Where) })
	return s + ": " + words.And(names, toldNames)
}

// Text tells what was found by folder, so many folders at most, those of libraries last.
// whole: each finding is in it.
func (f Findings) Text(most int) (text string, whole bool) {
	groups := f.groups()
	shown := groups[:min(most, len(groups))]
	var parts []string
	told := 0
	whole = true
	for _, g := range shown {
		parts = append(parts, g.String())
		told += len(g.of)
		whole = whole && g.each()
	}
	if n := len(f.List) - told + f.More; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more in other folders", n))
		whole = false
	}
	return strings.Join(append(parts, f.Gaps...), "; "), whole
}

// Lines are all findings, one a line, the nearest last: a long log keeps its end.
func (f Findings) Lines() string {
	var b strings.Builder
	groups := f.groups()
	slices.Reverse(groups)
	for _, g := range groups {
		for _, x := range g.of {
			fmt.Fprintf(&b, "  %s\n", x)
		}
	}
	if f.More > 0 {
		fmt.Fprintf(&b, "  and %d more, which were counted only\n", f.More)
	}
	return b.String()
}
