package kinds_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
)

// notRun are the kinds whose examples are loaded only, and why. Kinds of later builds may
// stand here.
var notRun = map[string]string{
	"download":          "fetches from Google's servers",
	"pages_api":         "asks Wikipedia: TestPagesAPI",
	"package":           "reads a published collection: TestPackageRoundTrip",
	"compare_package":   "reads a published collection: TestPackageRoundTrip",
	"embed":             "needs libtorch and a checkpoint",
	"random_t5":         "needs libtorch",
	"train":             "needs libtorch and a checkpoint",
	"train_queries":     "needs libtorch and a checkpoint",
	"generate_queries":  "reads a trained model",
	"evaluate":          "reads a trained model",
	"export_model":      "reads a trained model",
	"effects":           "reads evaluations of trained models",
	"best":              "reads evaluations of trained models",
	"best_model":        "reads trained models",
	"agree":             "reads evaluations of trained models",
	"render_figure":     "reads evaluations of trained models",
	"semantic_ids":      "reads embeddings of a checkpoint",
	"residual_ids":      "reads embeddings of a checkpoint",
	"dense":             "reads embeddings of a checkpoint",
	"compare":           "reads a dense ranking",
	"fuse":              "reads a dense ranking",
	"export_run":        "reads a dense ranking",
	"import_embeddings": "reads vectors of others",
	"import_ids":        "reads identifiers of others",
	"import_model":      "reads a checkpoint",
	"import_trained":    "reads a trained model of others",
	"claim":             "is judged, not run",
	"python":            "needs Python: TestPython",
	"script":            "needs R: TestScript",
}

// smaller are what is replaced in the examples that run: they load as they are shown.
var smaller = map[string][]string{
	"synth": {"= 300", "= 30", "= 1200", "= 120", "= 200", "= 20"},
}

// world are the blocks that examples may refer to.
type world struct {
	blocks map[string]string // by address
	needs  map[string][]string
}

// TestExamples: the example that `redsi kinds NAME` shows loads, with all that it refers to:
// its attributes, the types of its inputs and the fields that it reads. What is cheap runs.
func TestExamples(t *testing.T) {
	t.Parallel()
	l := newLocal(t) // with one store: what examples share is done once
	dir := exampleFiles(t)
	src := testkit.Value(os.ReadFile(filepath.Join("testdata", "examples.hcl")))(t)
	stand := readWorld(t, "examples.hcl", string(src))
	tree := testkit.Value(filepath.Abs(".."))(t)
	for _, k := range kinds.All() {
		if k.Hidden {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			l.t = t
			own := readWorld(t, k.Name, k.Example)
			if len(own.blocks) == 0 {
				t.Fatal("the kind has no example")
			}
			var text strings.Builder
			text.WriteString(k.Example + "\n")
			for _, address := range stand.wanted(t, own) {
				text.WriteString(stand.blocks[address] + "\n")
			}
			vars := map[string]string{}
			for _, name := range []string{"tree", "data"} {
				if strings.Contains(text.String(), fmt.Sprintf("variable %q", name)) {
					vars[name] = map[string]string{"tree": tree, "data": dir}[name]
				}
			}
			file := filepath.Join(dir, k.Name+".hcl")
			p, ds := pipeline.Load(map[string][]byte{file: []byte(text.String())}, pipeline.Options{Registry: l.Registry, World: pipeline.World{ReadFile: os.ReadFile, List: language.List}, Vars: vars})
			testkit.None(t, ds.Err())
			for _, d := range ds.List {
				if d.Subject != nil && d.Subject.Start.Line <= strings.Count(k.Example, "\n")+1 {
					t.Errorf("the example is warned of: %s: %s", d.Summary, d.Detail)
				}
			}
			if len(p.Steps) == 0 {
				t.Fatal("the example declares no step")
			}
			if notRun[k.Name] != "" {
				return
			}
			write(t, dir, k.Name+".hcl", strings.NewReplacer(smaller[k.Name]...).Replace(text.String()))
			pl := l.plan(file, vars, slices.Sorted(maps.Keys(own.blocks))...)
			ran := false
			for i, r := range l.run(pl) {
				if pl.Steps[i].Task.Kind != k.Name {
					continue
				}
				ran = true
				for _, o := range k.Outputs {
					if _, ok := r.Outputs[o.Name]; !ok {
						t.Errorf("it left no output %s", o.Name)
					}
				}
			}
			if !ran {
				t.Errorf("no step of the kind has run")
			}
		})
	}
}

// readWorld splits a text into its blocks. Local values and variables are "local.NAME" and "var.NAME".
func readWorld(t *testing.T, name, text string) world {
	t.Helper()
	f, ds := hclsyntax.ParseConfig([]byte(text), name, hcl.InitialPos)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w := world{map[string]string{}, map[string][]string{}}
	for _, b := range f.Body.(*hclsyntax.Body).Blocks {
		declare := func(address string, block []byte, needs []string) {
			if _, twice := w.blocks[address]; twice {
				t.Fatalf("%s declares %s twice", name, address)
			}
			w.blocks[address], w.needs[address] = string(block), needs
		}
		block := b.Range().SliceBytes([]byte(text))
		switch b.Type {
		case "locals":
			for _, a := range b.Body.Attributes {
				value := fmt.Appendf(nil, "locals {\n%s\n}", a.SrcRange.SliceBytes([]byte(text)))
				declare("local."+a.Name, value, references(&hclsyntax.Body{Attributes: hclsyntax.Attributes{a.Name: a}}))
			}
		case "variable":
			declare("var."+b.Labels[0], block, references(b.Body))
		default:
			declare(strings.Join(append([]string{b.Type}, b.Labels...), "."), block, references(b.Body))
		}
	}
	return w
}

// references are the addresses of the blocks that a body names.
func references(body *hclsyntax.Body) (list []string) {
	for _, a := range body.Attributes {
		for _, v := range a.Expr.Variables() {
			n := map[string]int{"step": 2, "table": 1, "figure": 1, "var": 1, "local": 1}[v.RootName()]
			address := v.RootName()
			for i := 1; i <= n && i < len(v); i++ {
				switch at := v[i].(type) {
				case hcl.TraverseAttr:
					address += "." + at.Name
				case hcl.TraverseIndex:
					if at.Key.Type() == cty.String {
						address += "." + at.Key.AsString()
					}
				}
			}
			if n > 0 {
				list = append(list, address)
			}
		}
	}
	for _, b := range body.Blocks {
		list = append(list, references(b.Body)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// wanted are the blocks of the world that an example needs, and what these need.
func (w world) wanted(t *testing.T, example world) []string {
	t.Helper()
	taken := map[string]bool{}
	var take func(from string, addresses []string)
	take = func(from string, addresses []string) {
		for _, a := range addresses {
			if _, own := example.blocks[a]; own || taken[a] {
				continue
			}
			if _, ok := w.blocks[a]; !ok {
				t.Fatalf("%s refers to %s, which testdata/examples.hcl does not have: add it", from, a)
			}
			taken[a] = true
			take(a, w.needs[a])
		}
	}
	for address, needs := range example.needs {
		take(address, needs)
	}
	return slices.Sorted(maps.Keys(taken))
}

// exampleFiles are what the steps of testdata/examples.hcl download, and the example of kind
// command runs.
func exampleFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"fit.awk":              "END { print \"{\\\"rows\\\": \" NR \"}\" > \"out/metrics.json\" }\n",
		"revisions.csv":        "oldid,page_id\n815185445,11\n787133819,12\n",
		"msmarco-docs.tsv":     "D1\thttp://a.example/\tOne\tthe first text\nD2\thttp://b.example/\tTwo\tthe second text\n",
		"msmarco-queries.tsv":  "1\tfirst text\n2\tsecond text\n",
		"msmarco-qrels.tsv":    "1 0 D1 1\n2 0 D2 1\n",
		"mine-documents.jsonl": `{"_id":"a","title":"One","text":"the first text"}` + "\n" + `{"_id":"b","title":"Two","text":"the second text"}` + "\n",
		"mine-queries.jsonl":   `{"_id":"q1","text":"first"}` + "\n" + `{"_id":"q2","text":"second"}` + "\n" + `{"_id":"q3","text":"which is it"}` + "\n" + `{"_id":"q4","text":"which was it"}` + "\n",
		"mine-qrels.tsv":       "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tb\t1\nq3\ta\t1\nq4\tb\t1\n",
		"splade.run":           "q1 Q0 a 1 2.5 splade\nq1 Q0 b 2 1.5 splade\nq2 Q0 b 1 2.5 splade\nq3 Q0 a 1 0.5 splade\nq4 Q0 a 1 0.5 splade\n",
		"trec_dl.qrels":        "q1 0 a 2\nq2 0 b 1\nq3 0 a 0\n",
		"data/raw/a.csv":       "1\n",
		"src/fit.py":           "import json\n",
		"R/plot.R":             "source('R/theme.R')\n",
		"R/theme.R":            "\n",
	} {
		at := filepath.Join(dir, name)
		testkit.Write(t, at, text)
	}
	return dir
}

// TestGrid runs the example of a grid with few updates: the model whose development value
// is highest is the one, and the only one, that is asked the test queries, and the table has
// its numbers beside its name.
func TestGrid(t *testing.T) {
	l := newLocal(t)
	pl := l.plan(filepath.Join("..", "examples", "grid.hcl"), map[string]string{"steps": "2"})
	var best chosen
	models := map[string]artifacts.Digest{}
	dev := map[string]float64{}
	made := map[string]*artifacts.Result{}
	for i, res := range l.run(pl) {
		made[pl.Steps[i].Address] = res
		name, ok := strings.CutPrefix(pl.Steps[i].Address, "step.train.grid[")
		if !ok {
			continue
		}
		var r trained
		l.json(res.Outputs["report"], &r)
		name = strings.Trim(name, `"]`)
		models[name], dev[name] = res.Outputs["model"].Digest, r.Metrics["MRR@10"]
	}
	l.json(made["step.best_model.grid"].Outputs["report"], &best)
	if len(dev) != 4 || len(best.Values) != 4 {
		t.Fatalf("%d trainings, %d candidates", len(dev), len(best.Values))
	}
	for name, v := range dev {
		if best.Values[name] != v || v > best.Value {
			t.Errorf("%s has %v, the report says %v; the best has %v", name, v, best.Values[name], best.Value)
		}
	}
	if got := made["step.best_model.grid"].Outputs["model"].Digest; best.Value != dev[best.Chosen] || got != models[best.Chosen] {
		t.Errorf("chosen is %s with %v, and the model %s", best.Chosen, best.Value, got)
	}
	var table struct {
		Rows []struct {
			Cells map[string]struct {
				Text  string
				Value float64
			}
		}
	}
	l.json(made["table.test"].Outputs["json"], &table)
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != 4 || table.Rows[0].Cells["chosen"].Text != best.Chosen {
		t.Fatalf("chosen is %s, and the table has %+v", best.Chosen, table)
	}
	l.says(made["step.evaluate.test"].Outputs["report"], map[string]any{"percent.post_filtered.mrr_10": table.Rows[0].Cells["mrr_10"].Value})
}

// TestSystemsExample: all systems of the example train and are evaluated end to end, those of
// generated queries on these.
func TestSystemsExample(t *testing.T) {
	l := newLocal(t)
	tensor.SetNumThreads(1)
	file := filepath.Join("..", "examples", "systems.hcl")
	vars := map[string]string{"queries": "60", "steps": "2"}
	// As they are those whose identifiers begin where T5's tokens end, and all with fewer tokens.
	l.run(l.plan(file, vars, `step.evaluate.systems["atomic"]`, `step.evaluate.systems["residual"]`))
	src := readPipeline(t, file)
	text := string(src[file])
	for was, is := range map[string]string{
		`"../assets/tokenizers/t5-tokenizer.json.gz"`: strconv.Quote(fewerTokens(t, 3000)),
		"step \"random_t5\" \"model\" {\n":            "$0vocabulary = 3072\n",
		"step \"atomic_ids\" \"documents\" {\n":       "$0first_token = 3000\n",
		"step \"residual_ids\" \"documents\" {\n":     "$0first_token = 3072\n",
	} {
		if strings.Count(text, was) != 1 {
			t.Fatalf("the example has not one %q", was)
		}
		text = strings.Replace(text, was, strings.Replace(is, "$0", was, 1), 1)
	}
	src[file] = []byte(text)
	pl := l.planOf(file, l.load(src, vars))
	results := l.run(pl)
	rows := 0
	for i, s := range pl.Steps {
		switch {
		case s.Task.Kind == "evaluate":
			var e struct {
				Percent struct {
					PostFiltered struct {
						Hits10 float64 `json:"hits_10"`
					} `json:"post_filtered"`
				}
				Queries, Width int
				Seen           int `json:"seen_queries"`
			}
			l.json(results[i].Outputs["report"], &e)
			if e.Queries == 0 || e.Seen == 0 || e.Seen == e.Queries || e.Width != 10 || !(e.Percent.PostFiltered.Hits10 >= 0 && e.Percent.PostFiltered.Hits10 <= 100) {
				t.Errorf("%s: %+v", s.Address, e)
			}
			rows++
		case strings.HasPrefix(s.Address, "step.train.systems"):
			var r trained
			l.json(results[i].Outputs["report"], &r)
			own := !strings.Contains(s.Address, "dsi_qg")
			if r.Steps != 2 || (r.Indexing == 0) || own == strings.Contains(string(s.Task.Config), "generate_queries") {
				t.Errorf("%s: %+v, %s", s.Address, r, s.Task.Config)
			}
		case s.Address == "table.systems":
			var table struct{ Rows []json.RawMessage }
			l.json(results[i].Outputs["json"], &table)
			testkit.Is(t, len(table.Rows), 8, "rows")
		}
	}
	testkit.Is(t, rows, 8, "systems")
}

// TestOwnCorpus trains and evaluates examples/own_corpus.hcl on tables. TestImportCorpus reads the same collection in
// BEIR's layout.
func TestOwnCorpus(t *testing.T) {
	l := newLocal(t)
	file := func(name string) string {
		return testdata(t, "corpora", "collect", "testdata", "csv", name)
	}
	out := l.outputs(filepath.Join("..", "examples", "own_corpus.hcl"), map[string]string{
		"documents": list(file("documents.csv")), "queries": list(file("queries.csv")), "steps": "2", "batch": "2",
		"qrels": fmt.Sprintf("{train=%q, dev=%q, test=%q}", file("qrels-train.csv"), file("qrels-dev.csv"), file("qrels-test.csv")),
	})
	for _, id := range []string{"atomic", "naive", "semantic"} {
		var curve struct{ Points []struct{ Step int } }
		l.says(out[fmt.Sprintf("step.evaluate.own[%q].report", id)], map[string]any{"queries": 1.0})
		l.json(out[fmt.Sprintf("step.train.own[%q].curve", id)], &curve)
		testkit.That(t, len(curve.Points) != 0 && curve.Points[len(curve.Points)-1].Step == 2, id, curve)
	}
}
