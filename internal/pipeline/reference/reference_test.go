package reference

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

type config struct {
	Records step.Input  `hcl:"records" help:"what to read" accepts:"nq/records"`
	Key     string      `hcl:"key,optional" help:"which | key" enum:"a,b"`
	Long    string      `hcl:"long,optional" help:"one of many" enum:"a,b,c,d"`
	Cells   []tableCell `hcl:"cell,block" help:"cells of the paper"`
	Options options     `hcl:"options,optional" help:"switches."`
	Limit   *int        `hcl:"limit,optional" help:"stop early"`
	Mirrors []string    `hcl:"mirrors,optional,nokey" help:"where else to look"`
	Others  step.Inputs `hcl:"others,optional" help:"more"`
}

type cellOptions struct {
	Bold bool `hcl:"bold,optional" help:"print it bold"`
}

type tableCell struct {
	Name    string      `hcl:"name,label" help:"which cell"`
	Value   float64     `hcl:"value" help:"its value"`
	Options cellOptions `hcl:"options,optional" help:"how it looks"`
}

type options struct {
	Gap int `hcl:"gap,optional" help:"gap in pixels"`
}

func registry() *step.Registry {
	run := func(context.Context, *step.IO, config) error { return nil }
	kind := step.Kind[config]{
		Name: "read", Version: 4, Doc: "Reads records.\n\nIn one pass, with little memory. It keeps the order of its input, drops nothing and counts what it sees.",
		Outputs:  []step.Output{{Name: "out", Type: "nq/out", Help: "one line per record"}, {Name: "files", Type: "x", Tree: true}},
		Defaults: config{Key: "a", Options: options{Gap: 3}, Mirrors: []string{"x<y"}},
		Example:  "\nstep \"read\" \"a\" {\n  records = step.x.y.records\n}\n",
		Queue:    step.GPU, Needs: step.Libtorch,
		Run: run,
	}
	part := kind
	part.Name = "read_part"
	kind.Parts = []step.Spec{step.DefinePart(part).Spec}
	table := kind
	table.Name, table.Block, table.Parts, table.Needs, table.Queue = "render_table", true, nil, "", step.CPU
	return step.NewRegistry(step.Define(table), step.Define(kind))
}

func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	testkit.None(t, write(&b))
	goldens.Same(t, "testdata/"+name, b.String())
}

func TestGoldens(t *testing.T) {
	kinds := Kinds(registry())
	golden(t, "list.golden", func(w io.Writer) error { return List(w, kinds) })
	golden(t, "kind.golden", func(w io.Writer) error { return Text(w, kinds[0], 70) })
	for name, page := range Markdown(kinds) {
		goldens.Same(t, "testdata/"+name, page)
	}
	golden(t, "functions.golden", FunctionText)
	golden(t, "kind.json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(kinds[0])
	})
}

func TestFind(t *testing.T) {
	reg := registry()
	for name, want := range map[string]string{"read": "read", "table": "render_table", "render_table": "render_table"} {
		if k, err := Find(reg, name); err != nil || k.Name != want {
			t.Errorf("%s is %q, %v", name, k.Name, err)
		}
	}
	for name, want := range map[string]string{"raed": `did you mean "read"?`, "something": "redsi kinds lists them", "read_part": "", "step": ""} {
		testkit.ErrSays(t, testkit.Err(Find(reg, name)), want)
	}
}
