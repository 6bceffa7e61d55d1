package declare_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
)

// TestBlockTypes: the table says the same of a type of block wherever it says something of it.
func TestBlockTypes(t *testing.T) {
	roots := map[string]bool{"each": true}
	for i, b := range declare.Types {
		if declare.Of(b.Name) != &declare.Types[i] {
			t.Errorf("%s: there are two", b.Name)
		}
		if b.Kind != "" && declare.OfKind(b.Kind) != &declare.Types[i] {
			t.Errorf("%s: another type stands for %s", b.Name, b.Kind)
		}
		parsed := snippet(t, b.Snippet)
		if parsed.Type != b.Name || len(parsed.Labels) != len(b.Labels) {
			t.Errorf("%s: its snippet is of %s with %d labels", b.Name, parsed.Type, len(parsed.Labels))
		}
		name, named := declare.NameOf(parsed)
		if named != (len(b.Labels) > 0) {
			t.Errorf("%s: name %q", b.Name, name)
		}
		if b.Root == "" {
			continue
		}
		roots[b.Root] = true
		depth := declare.Depth(b.Root)
		if !named {
			continue
		}
		if strings.Count(name, ".") != depth-1 || !strings.HasPrefix(name, b.Root+".") {
			t.Errorf("%s: %s has depth %d", b.Name, name, depth)
		}
		if a, _ := address.Output(name + ".x"); b.Outputs() && (a != name || address.Of(a).Type() != b.Name) {
			t.Errorf("%s: %s.x is an output of %s", b.Name, name, a)
		}
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(declare.Roots())), slices.Sorted(maps.Keys(roots))); d != "" {
		t.Errorf("roots (-said +of the table):\n%s", d)
	}
	if declare.Of("steps") != nil || declare.OfKind("") != nil || declare.Depth("") != 0 || declare.Depth("local") != 2 || declare.Depth("each") != 0 {
		t.Error("what is no type has one")
	}
}

var (
	placeholder = regexp.MustCompile(`\$\{\d:(\w+)\}`)
	hole        = regexp.MustCompile(`\$\d`)
)

// snippet is the block that one is, with its names and without what is to be filled in.
func snippet(t *testing.T, text string) *hclsyntax.Block {
	t.Helper()
	text = placeholder.ReplaceAllString(text, "$1")
	text = hole.ReplaceAllString(regexp.MustCompile(`= \$\d`).ReplaceAllString(text, "= 2"), "")
	f, ds := hclsyntax.ParseConfig([]byte(text+"\n"), "", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatalf("%s\n%s", text, ds)
	}
	return f.Body.(*hclsyntax.Body).Blocks[0]
}
