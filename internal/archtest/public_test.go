package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/errtest"
)

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
		errtest.None(t, err)
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
	errtest.None(t, err)
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
	errtest.None(t, format.Node(&b, fset, n))
	for line := range strings.Lines(b.String()) { // what was a comment is an empty line
		if strings.TrimSpace(line) != "" {
			out.WriteString(line)
		}
	}
	out.WriteString("\n")
}
