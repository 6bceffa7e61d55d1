package isolation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// group is the findings of one kind in one folder.
type group struct {
	what, folder string
	rank         int
	of           []Finding
}

// Ranks of findings: what the step's author may have caused comes first.
const (
	near = iota
	ofSystem
	ofLibrary
)

// A folder's findings are listed up to toldEach of them; of more, toldNames names are given.
const (
	toldEach  = 3
	toldNames = 5
)

// libraries are folders that are reported as one, whatever was read in them.
var libraries = []string{"site-packages", "dist-packages", "site-library", "node_modules"}

// place returns the folder by which a finding is reported, and its rank.
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
	case under(f.Where, []string{"/etc", "/sys", "/run", "/var"}): // a machine's settings and state
		return folder, ofSystem
	}
	return folder, near
}

// Library reports whether the finding is in an installation: modules and libraries of an interpreter.
func (f Finding) Library() bool {
	_, rank := f.place()
	return rank == ofLibrary
}

// groups returns the findings by folder, the nearest first.
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
	return len(g.of) == 1 || g.rank != ofLibrary && len(g.of) <= toldEach
}

func (g *group) String() string {
	if g.each() {
		return strings.Join(lists.Map(g.of, Finding.String), "; ")
	}
	s := fmt.Sprintf("%s %d files in %s", g.what, len(g.of), g.folder)
	if g.rank == ofLibrary {
		return s
	}
	return s + ": " + words.And(lists.Map(g.of, func(x Finding) string { return filepath.Base(x.Where) }), toldNames)
}

// Text tells the findings by folder, of at most so many folders, libraries last. complete says that it names each.
func (f Findings) Text(most int) (text string, complete bool) {
	groups := f.groups()
	var parts []string
	rest := len(f.List) + f.More
	complete = true
	for _, g := range groups[:min(most, len(groups))] {
		parts = append(parts, g.String())
		rest -= len(g.of)
		complete = complete && g.each()
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more in other folders", rest))
	}
	return strings.Join(append(parts, f.Gaps...), "; "), complete && rest == 0
}

// Lines lists all findings, one a line, the nearest last: a long log keeps its end.
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
