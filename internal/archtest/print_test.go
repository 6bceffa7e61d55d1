package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// outputs are names of what a verb prints to.
var outputs = map[string]bool{"Out": true, "Err": true, "Stdout": true, "Stderr": true, "out": true, "errw": true}

// TestOnlyViewPrints finds verbs that print past package view, which escapes what a
// terminal would obey.
func TestOnlyViewPrints(t *testing.T) {
	escaped := 0
	for _, f := range codeOf(t, "internal/cli") {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch pkg, _ := fun.X.(*ast.Ident); {
			case output(fun.X) && strings.HasPrefix(fun.Sel.Name, "Write"):
				t.Errorf("%s: a verb writes past package view", f.line(t, call))
			case pkg == nil:
			case pkg.Name == "view" && strings.HasPrefix(fun.Sel.Name, "Print"):
				escaped++
			case pkg.Name == "fmt" && strings.HasPrefix(fun.Sel.Name, "Print"),
				(pkg.Name == "fmt" || pkg.Name == "io") && len(call.Args) > 0 && output(call.Args[0]) && !strings.HasPrefix(fun.Sel.Name, "Sprint"):
				t.Errorf("%s: %s.%s prints; view.Printf, view.Println and view.Copy do", f.line(t, call), pkg.Name, fun.Sel.Name)
			}
			return true
		})
	}
	if escaped < 20 {
		t.Fatalf("only %d calls of view.Printf found: the test looks in the wrong place", escaped)
	}
}

// output reports whether an argument is a verb's output: a.Out, os.Stderr, out.
func output(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return outputs[e.Sel.Name]
	case *ast.Ident:
		return outputs[e.Name]
	}
	return false
}
