package link

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// FuzzOrder: each node is in one group, after the nodes that it refers to, with the nodes that it reaches and that reach it.
func FuzzOrder(f *testing.F) {
	f.Add(uint8(3), []byte{0, 1, 1, 2, 2, 0})
	f.Add(uint8(5), []byte{0, 0, 4, 3, 3, 4, 2, 1})
	f.Add(uint8(0), []byte{})
	f.Fuzz(func(t *testing.T, size uint8, pairs []byte) {
		n := 1 + int(size)%64
		refs, reaches := make([][]int, n), make([][]bool, n)
		nodes := make([]int, n)
		for i := range n {
			nodes[i], reaches[i] = i, make([]bool, n)
		}
		for i := 0; i+1 < len(pairs) && i < 512; i += 2 {
			from, to := int(pairs[i])%n, int(pairs[i+1])%n
			refs[from] = append(refs[from], to)
			reaches[from][to] = true
		}
		for via := range n {
			for from := range n {
				for to := range n {
					reaches[from][to] = reaches[from][to] || reaches[from][via] && reaches[via][to]
				}
			}
		}
		at := map[int]int{} // the group of a node
		list := Groups(nodes, func(i int) []int { return refs[i] })
		for g, group := range list {
			for _, i := range group {
				if was, twice := at[i]; twice {
					t.Fatalf("node %d is in the groups %d and %d", i, was, g)
				}
				at[i] = g
			}
		}
		for i := range n {
			g, ok := at[i]
			if !ok {
				t.Fatalf("node %d is in no group", i)
			}
			for _, to := range refs[i] {
				if at[to] > g {
					t.Fatalf("node %d is in group %d, before %d, which it refers to", i, g, to)
				}
			}
			for j := range n {
				if i != j && (at[j] == g) != (reaches[i][j] && reaches[j][i]) {
					t.Fatalf("nodes %d and %d: in one group %t", i, j, at[j] == g)
				}
			}
		}
	})
}

// FuzzLink: each reference is an edge or reported; each value is in the order, or in a circle that is reported.
func FuzzLink(f *testing.F) {
	for _, src := range []string{
		"a = 1\nb = local.a + var.x", "a = local.b\nb = local.a", "a = [for x in local.b : x]\nb = local[\"a\"]", "a = local.a", "a = local.none",
		"a = var.none + nothing", "a = local", "a = \"${local.b}\"\nb = var", "a = each.key", "a = step.x.y.z",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, locals string) {
		files := map[string][]byte{"p.hcl": []byte("variable \"x\" { default = 1 }\nlocals {\n" + locals + "\n}\n")}
		d := syntax.NewCollector(files)
		tree := declare.Declare(language.NewSession(files, language.World{}, d, nil), files, declare.Options{})
		if d.Failed() || len(tree.Root.Bodies) != 1 || len(tree.Root.Bodies[0].Blocks) != 2 {
			t.Skip()
		}
		l := Link(tree.Root, d)
		reported := d.Done().Lines()
		for _, n := range tree.Root.Nodes {
			for _, tr := range n.Expr.Variables() {
				p := language.Names(tr)
				at := fmt.Sprintf(":%d:%d", tr.SourceRange().Start.Line, tr.SourceRange().Start.Column)
				found := p[0] == "var" && (len(p) == 1 || p[1] == "x") || p[0] == "local" && len(p) == 1 || strings.Contains(reported, at)
				for _, e := range l.Edges[n.Index] {
					found = found || p[0] == "local" && e.To.Name == "local."+p[1]
				}
				if !found && !l.Bad[n.Expr] {
					t.Fatalf("%s refers to %v: no edge, and nothing is said of %s:\n%s", n.Name, p, at, reported)
				}
			}
			if !slices.Contains(l.Order, n) && !strings.Contains(reported, "none of these can come first") {
				t.Fatalf("%s is not in the order, nor in a circle:\n%s", n.Name, reported)
			}
		}
		for i, n := range l.Order {
			for _, e := range l.Edges[n.Index] {
				if at := slices.Index(l.Order, e.To); at >= i {
					t.Fatalf("%s comes before %s", n.Name, e.To.Name)
				}
			}
		}
	})
}
