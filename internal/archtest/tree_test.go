package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/lists"
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
		f := &source{path: p, folder: path.Dir(p), test: strings.HasSuffix(p, "_test.go"), apart: apart[path.Dir(p)]}
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
	errtest.None(t, err)
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
func (f *source) line(t *testing.T, n ast.Node) string {
	tr, err := readTree()
	errtest.None(t, err)
	return tr.fset.Position(n.Pos()).String()
}

// declare notes the identifiers of a file under its package's name; tests count too.
func (tr *tree) declare(f *ast.File) {
	name := strings.TrimSuffix(f.Name.Name, "_test")
	if tr.exports[name] == nil {
		tr.exports[name] = map[string]bool{}
	}
	into := tr.exports[name]
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				into[d.Name.Name] = true
			} else if r := receiver(d.Recv.List[0].Type); r != "" {
				into[r+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					into[s.Name.Name] = true
					members(into, s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						into[n.Name] = true
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
