package pipeline_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
)

// The order of blocks, and how they are spread over files, says nothing.
func TestOrderOfBlocks(t *testing.T) {
	src, err := os.ReadFile("testdata/valid/paper.hcl")
	if err != nil {
		t.Fatal(err)
	}
	f, ds := hclsyntax.ParseConfig(src, "paper.hcl", hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var blocks []string
	for _, b := range f.Body.(*hclsyntax.Body).Blocks {
		blocks = append(blocks, string(b.Range().SliceBytes(src)))
	}
	want := tasks(t, map[string][]byte{"paper.hcl": src}, src)
	rng := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		rng.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		sources := map[string][]byte{}
		for _, b := range blocks {
			name := fmt.Sprintf("%d.hcl", rng.IntN(3))
			sources[name] = append(sources[name], "# a comment\n"+b+"\n\n"...)
		}
		if d := cmp.Diff(want, tasks(t, sources, src)); d != "" {
			t.Fatalf("in another order (-want +got):\n%s", d)
		}
	}
}

// tasks lists addresses and configurations, sorted.
func tasks(t *testing.T, sources map[string][]byte, opts []byte) (list []string) {
	t.Helper()
	p, ds := pipeline.Load(sources, options(t, opts))
	errtest.None(t, ds.Err())
	for _, s := range p.Steps {
		list = append(list, fmt.Sprintf("%s %s %s %s", s.Address, s.Queue, s.Task.Kind, s.Task.Config))
	}
	sort.Strings(list)
	return list
}

// A chain through which every step depends on the one before is a deep graph;
// a wide for_each is a large one.
func TestManySteps(t *testing.T) {
	var b strings.Builder
	b.WriteString("step \"extract\" \"s0\" {\n  shards = []\n}\n")
	for i := 1; i < 2000; i++ {
		fmt.Fprintf(&b, "step \"dedup\" \"s%d\" {\n  records = %s.records\n  key = \"url\"\n}\n", i, "step.extract.s0")
		fmt.Fprintf(&b, "locals {\n  l%d = %s\n}\n", i, map[bool]string{true: "0", false: fmt.Sprintf("local.l%d", i-1)}[i == 1])
	}
	fmt.Fprintf(&b, "step \"train\" \"grid\" {\n  for_each = product({ seed = range(50), again = range(40) })\n  corpus = step.dedup.s1999.corpus\n  seed = each.value.seed + local.l1999\n}\n")
	b.WriteString("table \"t\" {\n  data = step.train.grid[*].metrics\n}\n")
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(b.String())}, pipeline.Options{Registry: kinds()})
	errtest.None(t, ds.Err())
	if got, want := len(p.Steps), 1+1999+2000+1; got != want {
		t.Errorf("%d steps, want %d", got, want)
	}
}

// What no person writes is refused, not followed to the end of the stack.
func TestDepth(t *testing.T) {
	for name, src := range map[string]string{
		"brackets":    "a = " + strings.Repeat("[", 10_000),
		"parens":      "locals {\n a = " + strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000) + "\n}",
		"negation":    "locals {\n a = " + strings.Repeat("!", 100_000) + "true\n}",
		"minus":       "locals {\n a = " + strings.Repeat("-", 100_000) + "1\n}",
		"conditional": "locals {\n a = " + strings.Repeat("true ? 1 : ", 20_000) + "1\n}",
		"sum":         "locals {\n a = " + strings.Repeat("1 + ", 20_000) + "1\n}",
		"traversal":   "locals {\n a = {}" + strings.Repeat(".a", 20_000) + "\n}",
		"index":       "locals {\n a = []" + strings.Repeat("[0]", 20_000) + "\n}",
		"splat":       "locals {\n a = []" + strings.Repeat("[*]", 20_000) + "\n}",
		"templates":   "locals {\n a = " + strings.Repeat("\"${", 10_000) + "\n}",
		"blocks":      strings.Repeat("step \"a\" \"b\" {\n", 10_000),
		"size":        strings.Repeat("# comment\n", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: kinds()})
			if p != nil && name != "sum" && name != "splat" {
				t.Error("it loads")
			}
			sane(t, ds)
		})
	}
}

// sane checks what every list of diagnostics must be.
func sane(t *testing.T, ds pipeline.Diagnostics) {
	t.Helper()
	for _, d := range ds.List {
		if d.Subject == nil || d.Subject.Filename == "" || d.Subject.Start.Line < 1 || d.Summary == "" {
			t.Errorf("a diagnostic without a place or a summary: %+v", d)
		}
	}
	var b bytes.Buffer
	for _, s := range []pipeline.Style{{}, {Width: 40, Color: true}} {
		if err := ds.Write(&b, s); err != nil {
			t.Error(err)
		}
	}
	if _, err := ds.MarshalJSON(); err != nil {
		t.Error(err)
	}
	if ds.HasErrors() != (ds.Err() != nil) {
		t.Error("Err does not say what HasErrors says")
	}
}

// Load never panics; it returns either a pipeline or errors, each with a place;
// and what it returns loads again from its own sources.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"testdata/valid", "testdata/invalid"} {
		sources, err := syntax.ReadAll(dir)
		errtest.None(f, err)
		for _, name := range syntax.Keys(sources) {
			f.Add(string(sources[name]), "scale", "x")
		}
	}
	f.Add("a"+strings.Repeat("\x86", 1000), "scale", "x") // no character of a long line begins near its fault
	reg := kinds()
	f.Fuzz(func(t *testing.T, src, name, value string) {
		if strings.Count(src, "product") > 3 || strings.Count(src, "range") > 4 || strings.Contains(src, "setproduct") {
			return // large on purpose
		}
		o := pipeline.Options{Registry: reg, Vars: map[string]string{name: value},
			VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: []byte(value)}, {Name: "v.json", Bytes: []byte(value)}},
			Env:      []string{pipeline.EnvPrefix + name + "=" + value}}
		p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, o)
		if (p == nil) != ds.HasErrors() {
			t.Fatal("a pipeline and errors, or neither")
		}
		sane(t, ds)
		if p == nil {
			return
		}
		again, ds := pipeline.Load(p.Sources, pipeline.Options{Registry: reg, Vars: p.Inputs()})
		if ds.HasErrors() {
			t.Fatalf("from its own sources and inputs: %v", ds.Err())
		}
		if d := cmp.Diff(text(t, p), text(t, again)); d != "" {
			t.Fatalf("loaded again:\n%s", d)
		}
	})
}
