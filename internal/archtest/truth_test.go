package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestTruth: what documents and comments name is there: files, folders, packages and their
// identifiers.
func TestTruth(t *testing.T) {
	tree := readTree(t)
	checked := 0
	for _, file := range tree.files {
		b, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		var said []string // by line
		switch path.Ext(file) {
		case ".md":
			if file == "CHANGELOG.md" { // tells of what was
				continue
			}
			said = tree.document(string(b))
		case ".go":
			said = tree.comments(t, file, b)
		}
		for _, s := range said {
			checked++
			if !strings.HasPrefix(s, "ok ") {
				t.Errorf("%s: %s", file, s)
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d names were looked up: the test looks in the wrong place", checked)
	}
}

// tree is what can be named.
type tree struct {
	files   []string
	paths   map[string]bool            // files and folders, slash-separated
	bases   map[string]bool            // names of files
	exports map[string]map[string]bool // by package name: declarations, methods as Type.Method
}

func readTree(t *testing.T) *tree {
	t.Helper()
	tr := &tree{paths: map[string]bool{}, bases: map[string]bool{}, exports: map[string]map[string]bool{}}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") && rel != ".ci" && rel != ".github" || slices.Contains(leftovers, rel)) {
			return filepath.SkipDir
		}
		tr.paths[rel] = true
		if d.IsDir() {
			return nil
		}
		tr.bases[d.Name()] = true
		tr.files = append(tr.files, rel)
		if strings.HasSuffix(rel, ".go") {
			tr.declare(t, p)
		}
		return nil
	})
	errtest.None(t, err)
	return tr
}

// leftovers are folders that builds and runs leave in a clone.
var leftovers = []string{"bin", "dist", "results"}

// declare notes the identifiers of a file under its package's name; tests count too.
func (tr *tree) declare(t *testing.T, file string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	errtest.None(t, err)
	name := strings.TrimSuffix(f.Name.Name, "_test")
	if tr.exports[name] == nil {
		tr.exports[name] = map[string]bool{}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				tr.exports[name][d.Name.Name] = true
				continue
			}
			if r := receiver(d.Recv.List[0].Type); r != "" {
				tr.exports[name][r+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					tr.exports[name][s.Name.Name] = true
					members(tr.exports[name], s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						tr.exports[name][n.Name] = true
					}
				}
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// members notes the fields of a struct and the methods of an interface.
func members(into map[string]bool, s *ast.TypeSpec) {
	var list *ast.FieldList
	switch typ := s.Type.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			into[s.Name.Name+"."+n.Name] = true
		}
		if len(f.Names) == 0 {
			into[s.Name.Name+".*"] = true // what it embeds has members that are not looked for
		}
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

// comments checks files and identifiers that comments name.
func (tr *tree) comments(t *testing.T, name string, src []byte) (said []string) {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
	errtest.None(t, err)
	for _, g := range f.Comments {
		text := g.Text()
		for _, s := range fileLike.FindAllString(text, -1) {
			said = append(said, tr.path(s))
		}
		for _, s := range named.FindAllString(text, -1) {
			said = append(said, tr.identifier(s)...)
		}
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
