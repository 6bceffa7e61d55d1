package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// tree is all files, and what can be named of them.
type tree struct {
	fset    *token.FileSet
	files   []*source
	paths   map[string]bool            // files and folders, slash-separated
	bases   map[string]bool            // names of files
	exports map[string]map[string]bool // by package name: declarations, methods as Type.Method
}

// source is a file. What there is of a Go file only is zero for others.
type source struct {
	tree         *tree
	path, folder string // from the root, slash-separated
	text         []byte
	test         bool
	apart        bool // it is test data, or of another module
	syntax       *ast.File
	imports      []string
}

// leftovers are folders that builds and runs leave in a clone.
var leftovers = []string{"bin", "dist", "results"}

// readTree reads the tree, once for all tests.
var readTree = sync.OnceValues(func() (*tree, error) {
	tr := &tree{fset: token.NewFileSet(), paths: map[string]bool{}, bases: map[string]bool{}, exports: map[string]map[string]bool{}}
	root := os.DirFS(filepath.Join("..", ".."))
	apart := map[string]bool{} // folders
	return tr, fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if tr.paths[p] = true; d.IsDir() {
			if p != "." && (strings.HasPrefix(d.Name(), ".") && p != ".ci" && p != ".github" || slices.Contains(leftovers, p)) {
				delete(tr.paths, p)
				return fs.SkipDir
			}
			_, nested := fs.Stat(root, path.Join(p, "go.mod"))
			apart[p] = p != "." && (apart[path.Dir(p)] || d.Name() == "testdata" || nested == nil)
			return nil
		}
		tr.bases[d.Name()] = true
		f := &source{tree: tr, path: p, folder: path.Dir(p), test: strings.HasSuffix(p, "_test.go"), apart: apart[path.Dir(p)]}
		tr.files = append(tr.files, f)
		if ext := path.Ext(p); ext != ".go" && ext != ".md" {
			return nil
		}
		if f.text, err = fs.ReadFile(root, p); err != nil || path.Ext(p) != ".go" {
			return err
		}
		if f.syntax, err = parser.ParseFile(tr.fset, p, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		for _, i := range f.syntax.Imports {
			imp, _ := strconv.Unquote(i.Path.Value) // the parser has seen to it
			f.imports = append(f.imports, imp)
		}
		tr.declare(f.syntax)
		return nil
	})
})

// sources are the Go files of this module.
func sources(t *testing.T) []*source {
	t.Helper()
	tr, err := readTree()
	testkit.None(t, err)
	all := lists.Filter(tr.files, func(f *source) bool { return f.syntax != nil && !f.apart })
	if len(all) < 50 {
		t.Fatalf("only %d Go files found: the test looks in the wrong place", len(all))
	}
	return all
}

// codeOf are the sources of some folders, without tests.
func codeOf(t *testing.T, folders ...string) []*source {
	t.Helper()
	all := lists.Filter(sources(t), func(f *source) bool { return !f.test && slices.Contains(folders, f.folder) })
	for _, folder := range folders {
		if !slices.ContainsFunc(all, func(f *source) bool { return f.folder == folder }) {
			t.Fatalf("%s has no files: the test looks in the wrong place", folder)
		}
	}
	return all
}

// line is where a file has a node.
func (f *source) line(n ast.Node) token.Position { return f.tree.fset.Position(n.Pos()) }

// declare notes the identifiers of a file under its package's name; tests count too.
func (tr *tree) declare(f *ast.File) {
	name := strings.TrimSuffix(f.Name.Name, "_test")
	if tr.exports[name] == nil {
		tr.exports[name] = map[string]bool{}
	}
	into := tr.exports[name]
	ast.Inspect(f, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.FuncDecl:
			of := ""
			if d.Recv != nil {
				of, _, _ = strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")+".", "[")
				of = strings.TrimSuffix(of, ".") + "."
			}
			into[of+d.Name.Name] = true
			return false
		case *ast.TypeSpec:
			into[d.Name.Name] = true
			members(into, d)
		case *ast.ValueSpec:
			for _, n := range d.Names {
				into[n.Name] = true
			}
		}
		return true
	})
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

// TestTruth: what documents and comments name is there: files, folders, packages and their
// identifiers.
func TestTruth(t *testing.T) {
	tree, err := readTree()
	testkit.None(t, err)
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

// TestPublic holds what other modules can import: nothing is added, changed or taken away
// without a line in testdata/public.golden, and CHANGELOG.md tells of it. Each public
// package has a doc.go.
func TestPublic(t *testing.T) {
	folders := map[string]bool{}
	for _, s := range sources(t) {
		if !strings.Contains("/"+s.folder+"/", "/internal/") && !strings.HasPrefix(s.folder, "tools/") {
			folders[s.folder] = true
		}
	}
	var got bytes.Buffer
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		writePublic(t, &got, folder)
	}
	want := goldens.Of(t, filepath.Join("testdata", "public.golden"), got.String())
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("the public identifiers are others (-golden +tree); if that is meant, `go test ./internal/archtest -update` and a line in CHANGELOG.md:\n%s", diff)
	}
}

// writePublic lists a package's exported declarations, without comments and bodies.
func writePublic(t *testing.T, out *bytes.Buffer, folder string) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	documented := folder == "."
	for _, source := range sources(t) {
		if source.test || source.folder != folder {
			continue
		}
		if source.syntax.Name.Name == "main" {
			return
		}
		f, err := parser.ParseFile(fset, source.path, source.text, parser.SkipObjectResolution) // doc changes what it is given
		testkit.None(t, err)
		documented = documented || strings.HasSuffix(source.path, "/doc.go")
		files = append(files, f)
	}
	if len(files) == 0 {
		return
	}
	if !documented {
		t.Errorf("%s is public and has no doc.go", folder)
	}
	p, err := doc.NewFromFiles(fset, files, module+folder)
	testkit.None(t, err)
	fmt.Fprintf(out, "package %s\n", strings.TrimSuffix(module+strings.TrimPrefix(folder, "."), "/"))
	list := func(consts, vars []*doc.Value, funcs []*doc.Func) {
		for _, v := range slices.Concat(consts, vars) {
			for _, name := range v.Names {
				if ast.IsExported(name) {
					fmt.Fprintf(out, "%s %s\n", v.Decl.Tok, name)
				}
			}
		}
		for _, f := range funcs {
			f.Decl.Doc, f.Decl.Body = nil, nil
			declare(t, out, fset, f.Decl)
		}
	}
	list(p.Consts, p.Vars, p.Funcs)
	for _, typ := range p.Types {
		for _, s := range typ.Decl.Specs {
			s := s.(*ast.TypeSpec)
			s.Doc, s.Comment = nil, nil
			ast.Inspect(s, func(n ast.Node) bool {
				if f, ok := n.(*ast.Field); ok {
					f.Doc, f.Comment = nil, nil
				}
				return true
			})
		}
		typ.Decl.Doc = nil
		declare(t, out, fset, typ.Decl)
		list(typ.Consts, typ.Vars, slices.Concat(typ.Funcs, typ.Methods))
	}
	fmt.Fprintln(out)
}

func declare(t *testing.T, out *bytes.Buffer, fset *token.FileSet, n ast.Node) {
	t.Helper()
	var b bytes.Buffer
	testkit.None(t, format.Node(&b, fset, n))
	for line := range strings.Lines(b.String()) { // what was a comment is an empty line
		if strings.TrimSpace(line) != "" {
			out.WriteString(line)
		}
	}
	out.WriteString("\n")
}
