package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestTruth: what documents and comments name is there: files, folders, packages and their
// identifiers.
func TestTruth(t *testing.T) {
	tree, err := readTree()
	errtest.None(t, err)
	checked := 0
	for _, f := range tree.files {
		var said []string // by line
		switch {
		case path.Ext(f.path) == ".md" && f.path != "CHANGELOG.md": // which tells of what was
			said = tree.document(string(f.text))
		case f.syntax != nil:
			for _, g := range f.syntax.Comments {
				said = append(said, tree.comment(g.Text())...)
			}
		}
		for _, s := range said {
			checked++
			if !strings.HasPrefix(s, "ok ") {
				t.Errorf("%s: %s", f.path, s)
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d names were looked up: the test looks in the wrong place", checked)
	}
}

var (
	code     = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	pathLike = regexp.MustCompile(`^(\.\./)*[\w.-]+(/[\w.{},*-]+)+/?$`)
	named    = regexp.MustCompile(`\b([a-z]\w+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	fileLike = regexp.MustCompile(`(?:[\w-]+/)*[\w-]+\.(?:go|md|py|sh|txtar|golden)\b`)
)

// document checks what Markdown has between backticks, and its links.
func (tr *tree) document(text string) (said []string) {
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		switch s := m[1]; {
		case pathLike.MatchString(s):
			if top, _, _ := strings.Cut(strings.TrimPrefix(s, "../"), "/"); tr.paths[top] && !slices.Contains(leftovers, top) {
				said = append(said, tr.path(s))
			}
		case fileLike.FindString(s) == s:
			said = append(said, tr.path(s))
		case named.FindString(s) == s:
			said = append(said, tr.identifier(s)...)
		}
	}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], ":") {
			said = append(said, tr.path(strings.TrimPrefix(m[1], "../")))
		}
	}
	return said
}

// comment checks files and identifiers that a comment names.
func (tr *tree) comment(text string) (said []string) {
	for _, s := range fileLike.FindAllString(text, -1) {
		said = append(said, tr.path(s))
	}
	for _, s := range named.FindAllString(text, -1) {
		said = append(said, tr.identifier(s)...)
	}
	return said
}

// path finds a file or folder by its path from the root or, of documents, from docs; a name
// alone may be anywhere. {a,b} and * are as in a shell.
func (tr *tree) path(s string) string {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "../"), "/")
	if !strings.Contains(s, "/") && tr.bases[s] || slices.Contains(elsewhere, s) {
		return "ok " + s
	}
	for _, one := range alternatives(s) {
		found := tr.paths[one] || tr.paths["docs/"+one]
		for p := range tr.paths {
			if found {
				break
			}
			ok, err := path.Match(one, p)
			found = err == nil && ok || strings.HasSuffix(p, "/"+one)
		}
		if !found {
			return "names " + s + ", which is not there"
		}
	}
	return "ok " + s
}

// elsewhere are files of other people, and such as a command makes, that are rightly named.
var elsewhere = []string{"cmd/os-reliable.go", "models/t5/modeling_t5.py", "models/bart/modeling_bart.py"}

// alternatives spells {a,b} out.
func alternatives(s string) []string {
	before, rest, ok := strings.Cut(s, "{")
	list, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{s}
	}
	var out []string
	for one := range strings.SplitSeq(list, ",") {
		out = append(out, alternatives(before+one+after)...)
	}
	return out
}

// identifier finds package.Name and package.Type.Member, where the package is one of ours.
func (tr *tree) identifier(s string) []string {
	m := named.FindStringSubmatch(s)
	names, ours := tr.exports[m[1]]
	if !ours || strings.ToUpper(m[2]) == m[2] && !names[m[2]] { // step.KIND.NAME stands for any
		return nil
	}
	switch {
	case !names[m[2]]:
		return []string{"names " + m[1] + "." + m[2] + ", which is not declared"}
	case m[3] != "" && !names[m[2]+"."+m[3]] && !names[m[2]+".*"]:
		return []string{"names " + s + ", which is not declared"}
	}
	return []string{"ok " + s}
}
