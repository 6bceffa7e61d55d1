package schema_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// wide has an attribute of every form.
type wide struct {
	Text    string            `hcl:"text" help:"a text" enum:"a,b"`
	Count   int               `hcl:"count,optional" help:"a number" min:"1" max:"9"`
	Share   *float64          `hcl:"share,optional" help:"another one" above:"0"`
	Flag    bool              `hcl:"flag,optional,was=switch" help:"yes or no"`
	List    []string          `hcl:"list,optional" help:"texts"`
	Grid    [][]int           `hcl:"grid,optional" help:"lists of numbers"`
	Weights map[string]int    `hcl:"weights,optional" help:"numbers by name"`
	Secrets map[string]string `hcl:"secrets,optional,names,secret" help:"where secrets are"`
	Records step.Input        `hcl:"records,optional" help:"an artifact" accepts:"nq/records"`
	Others  step.Inputs       `hcl:"others,optional" help:"artifacts"`
	Options options           `hcl:"options,optional" help:"an object"`
	Levels  map[string]cells  `hcl:"levels,optional" help:"objects by name"`
	Rows    []row             `hcl:"row,block" help:"blocks with a label"`
	Once    cells             `hcl:"once,block" help:"one block"`
}

type options struct {
	Gap   int     `hcl:"gap,optional" help:"a number"`
	Cells []cells `hcl:"cells,optional" help:"objects"`
}

type row struct {
	Name  string   `hcl:"name,label" help:"its label"`
	Value float64  `hcl:"value" help:"a number"`
	Cells []cells  `hcl:"cell,block" help:"blocks within"`
	Of    []string `hcl:"of,optional" help:"texts"`
}

type cells struct {
	Bold bool `hcl:"bold,optional" help:"yes or no"`
}

// common are attributes and blocks whose forms are checked elsewhere.
var common = []step.Attr{{Name: "for_each", Help: "a map"}, {Name: "keep", Help: "yes or no"}, {Name: "retry", Help: "how often", Block: true}}

var spec = step.Form(func(w wide) error {
	if w.Count == 7 {
		return errors.Join(step.Problem{Path: "count", Detail: "not 7"}, step.Problem{Path: `weights["a"]`, Detail: "nor this"})
	}
	return nil
})

// reads what a body of a block says of wide, of a session of its own.
func reads(t *testing.T, src string) (b *hclsyntax.Block, r *schema.Reader, said wide, ok bool) {
	t.Helper()
	const file = "p.hcl"
	text := []byte("wide \"w\" {\n" + src + "\n}\n")
	d := syntax.NewCollector(map[string][]byte{})
	steps := 0
	s := language.NewSession(nil, language.World{}, d, func() error {
		if steps++; steps > 16 {
			return errors.New("enough")
		}
		return nil
	})
	body := syntax.ParseFile(file, text, d)
	if body == nil || len(body.Blocks) == 0 {
		return nil, nil, said, false
	}
	s.Rewrite(body.Body)
	s.Secrets = map[string]cty.Value{"token": cty.StringVal("hidden")}
	records := step.Spec{Kind: step.Kind[any]{Outputs: []step.Output{{Name: "records", Type: "nq/records"}, {Name: "other", Type: "x"}}}}
	ctx := &hcl.EvalContext{Functions: s.Functions(".", func() bool { return true }), Variables: map[string]cty.Value{
		"var":  cty.ObjectVal(map[string]cty.Value{"token": cty.StringVal("hidden").Mark(language.Sensitive("token")), "n": cty.NumberIntVal(3)}),
		"step": language.OutputsOf(&records, records.Outputs, "step.read.a", nil),
		"each": cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal("k"), "value": cty.NullVal(cty.DynamicPseudoType)}),
	}}
	b = body.Blocks[0]
	typos := schema.Typos{}
	schema.Shape(d, b, spec.Attrs, common, "A wide", typos)
	r = &schema.Reader{Scope: language.Scope{Session: s, Context: ctx, Instance: &syntax.Instance{Key: "k", Keyed: true}}, Block: b, Spec: spec, Owner: "A wide", Address: `wide.w["k"]`, Typos: typos}
	said, ok = schema.Read[wide](r)
	return b, r, said, ok
}

// FuzzBody: a body is read, or what is wrong with it is said at a place of it.
func FuzzBody(f *testing.F) {
	for _, src := range []string{
		"text = \"a\"",
		"text = \"c\"\ncount = 0\nshare = -1\nflag = 3",
		"text = \"a\"\nswitch = true\nflag = true\ncounts = 1\ndepends_on = []",
		"text = \"a\"\nweights = { a = 1, \"b c\" = \"x\" }\ncount = 7\ngrid = [[1], [2, \"x\"], 3]",
		"text = \"a\"\nsecrets = { TOKEN = var.token, MADE = \"x${var.token}\" }\nlist = [var.token]",
		"text = \"a\"\nrecords = step.records\nothers = [step.records, step.other, step]\nfor_each = 1\nkeep = 2",
		"text = \"a\"\nrecords = step.other\nothers = step.records\nretry { times = 1 }\nretry = 2",
		"text = \"a\"\noptions = { gap = \"x\", gop = 1, cells = [{ bold = 1 }, { bald = true }] }\nlevels = { l = { bold = 2 } }",
		"text = \"a\"\nrow \"r\" {\n  value = 1\n  cell { bold = true }\n  cell {\n    bold = \"x\"\n  }\n}\nrow \"s\" {}\nrow { value = 2 }\nonce {}\nonce {}",
		"text = \"a\"\nlist {}\nrow = [{ value = 1 }]\nrow \"x\" { value = each.key }\nonce \"x\" { bold = each.value }",
		"text = file(\"x\")\nlist = \"sh -c\"\ncount = 1e400\nshare = 0.1",
	} {
		f.Add(src)
	}
	for _, dir := range []string{"valid", "invalid"} {
		sources, err := syntax.ReadAll("../testdata/" + dir)
		testkit.None(f, err)
		for _, name := range syntax.Keys(sources) {
			src := sources[name]
			if file, ds := hclsyntax.ParseConfig(src, name, hcl.InitialPos); !ds.HasErrors() {
				for _, b := range file.Body.(*hclsyntax.Body).Blocks {
					if text := b.Range().SliceBytes(src); len(text) < 2000 {
						_, inner, _ := strings.Cut(strings.TrimSuffix(string(text), "}"), "{")
						f.Add(inner)
					}
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		b, r, _, ok := reads(t, src)
		if b == nil {
			return
		}
		if ok && r.Failed() {
			t.Error("read, with values that are wrong")
		}
		ds := r.Diags.Done()
		if !ok && !ds.HasErrors() {
			t.Error("not read, and nothing is said to be wrong")
		}
		for _, d := range ds.List {
			if d.Subject == nil || d.Subject.Start.Byte < b.Range().Start.Byte || d.Subject.End.Byte > b.Range().End.Byte {
				t.Errorf("not in the block: %v", d)
			}
			if strings.Contains(d.Error(), "hidden") {
				t.Errorf("a secret: %v", d)
			}
		}
	})
}

// FuzzPath: what is written of a path is read as that path.
func FuzzPath(f *testing.F) {
	f.Add("rows", 2, "a \"b\"\n\xff")
	f.Add("a-b", 0, "")
	f.Fuzz(func(t *testing.T, name string, index int, key string) {
		schema.Show(schema.ParsePath(key))
		if !hclsyntax.ValidIdentifier(name) || index < 0 {
			return
		}
		for _, path := range [][]any{{name}, {name, index, name}, {name, schema.Key(key), index}, {name, name, schema.Key(key), schema.Key(name)}} {
			text := schema.Show(path)
			if got := schema.ParsePath(text); !reflect.DeepEqual(got, path) || schema.Show(got) != text {
				t.Errorf("%s is read as %v", text, got)
			}
		}
	})
}

// TestReader: the values of a body, and where they are written.
func TestReader(t *testing.T) {
	_, r, said, ok := reads(t, `text = "b"
switch = true
weights = { a = var.n }
records = step.records
row "first" {
  value = 1
}
row "second" {
  value = 2
  cell { bold = true }
}
secrets = { TOKEN = var.token }`)
	if !ok {
		t.Fatal(r.Diags.Done().Err())
	}
	ref := step.Ref{Step: "step.read.a", Output: "records"}
	want := wide{Text: "b", Flag: true, Weights: map[string]int{"a": 3}, Records: step.Input{Ref: &ref}, Secrets: map[string]string{"TOKEN": "var:token"},
		Rows: []row{{Name: "first", Value: 1}, {Name: "second", Value: 2, Cells: []cells{{Bold: true}}}}}
	testkit.Deep(t, said, want)
	testkit.That(t, r.Outputs[ref].Type == "nq/records" && r.Read["step.read.a"] != nil, "artifacts", r.Outputs)
	for path, line := range map[string]int{"text": 2, "flag": 3, `weights["a"]`: 4, "row[1].value": 10, "row[1].cell[0].bold": 11, "row[0].name": 6, "count": 1, "row[1].of": 9, "nothing.at.all": 1} {
		if at := r.Locate(schema.ParsePath(path)); at.Start.Line != line {
			t.Errorf("%s is at %v, want line %d", path, at, line)
		}
	}
}
