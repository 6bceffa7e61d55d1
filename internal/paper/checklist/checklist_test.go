package checklist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/questions"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// study is a small pipeline: a source, three trainings of which ran are done, and a table.
func study(t *testing.T, ran int, said pipeline.Checklist, list string) Input {
	t.Helper()
	store := mem.New()
	put := func(typ, text string) artifacts.Artifact {
		return artifacts.Artifact{Type: typ, Digest: storetest.Put(t, store, []byte(text)), Size: int64(len(text))}
	}
	file := put("file", "1 2 3")
	files, err := artifacts.Tree("files", []artifacts.File{{Name: "a.txt", Digest: file.Digest, Size: file.Size}})
	testkit.None(t, err)
	mean, single, std := render.Number(42), render.Number(7), 0.5
	mean.Std, mean.N = &std, 3
	table := &render.Table{Paper: "tab:x", Scale: "full", PaperScale: "full", Stubs: []string{"Key"}, Columns: []render.Column{{ID: "n", Title: "N", Format: render.Format{Style: "fixed"}}},
		Rows: []render.Row{{ID: "one", Titles: []string{"1"}, Cells: map[string]render.Cell{"n": mean}}, {ID: "two", Titles: []string{"2"}, Cells: map[string]render.Cell{"n": single}}}}
	testkit.None(t, table.Finish())
	var drawn bytes.Buffer
	testkit.None(t, table.JSON(&drawn))
	type made struct {
		address, kind, config string
		deps                  []int
		outputs               map[string]artifacts.Artifact
		counts                map[string]int64
		used                  *artifacts.Used
	}
	all := []made{{"step.download.x", "download", `{"urls":["https://example.org/a.txt","b.txt"],"names":["a.txt","b.txt"],"license":""}`, nil, map[string]artifacts.Artifact{"files": files},
		map[string]int64{"documents": 1234}, nil}}
	var refs []string
	for seed := range 3 {
		refs = append(refs, fmt.Sprintf(`{"value":{"$ref":{"step":"step.train.x[\"%d\"]","output":"report"}}}`, seed))
		all = append(all, made{fmt.Sprintf(`step.train.x["%d"]`, seed), "train",
			fmt.Sprintf(`{"seed":%d,"rate":%v,"data":{"$ref":{"step":"step.download.x","output":"files"}},"argv":["fit","-v","seed=%d","/home/me/data/x.csv"],"options":{"deep":true}}`, seed, 0.1*float64(1+seed%2), seed),
			[]int{0}, map[string]artifacts.Artifact{"report": put("report", fmt.Sprintf(`{"parameters":%d}`, 1_500_000+seed))}, nil,
			&artifacts.Used{CPU: 7200, CPUOf: artifacts.CPUOfProgram, Memory: 3e9, MemoryOf: artifacts.MemoryOfProgram, Read: 5, Written: 21, Card: "A card", CardMemory: 1e9, Energy: 7.2e6, EnergyOf: "cards", Beside: seed}})
	}
	all = append(all, made{"table.x", "render_table", `{"paper":"tab:x","scale":"full","paper_scale":"full","rows":[` + strings.Join(refs, ",") + `],"expect":[{"cell":"one.n","value":42.5,"tolerance":1},{"cell":"two.n","value":9}]}`, []int{1, 2, 3}, map[string]artifacts.Artifact{"json": put("table/json", drawn.String())}, nil, nil})
	v := &plan.Preview{Plan: &plan.Plan{Pipeline: "p.hcl"}}
	fit := step.Define(step.Kind[struct{}]{Name: "train", Version: 1, Doc: "Fits.", Run: nothing, Outputs: []step.Output{{Name: "report", Type: "report", Fields: step.FieldsOf[struct {
		Parameters int64 `json:"parameters"`
	}]()}}})
	reg := step.NewRegistry(fit)
	for i, s := range all {
		v.Plan.Steps = append(v.Plan.Steps, plan.Step{Address: s.address, Task: step.Task{Kind: s.kind, Config: json.RawMessage(s.config)}, Deps: s.deps, Pos: pipeline.Pos{File: "p.hcl", Line: i + 1}})
		it := plan.Item{Outcome: plan.Maybe, Rare: &plan.Snags{Waits: s.deps}}
		if i < ran {
			key := artifacts.Sum([]byte(s.address))
			it = plan.Item{Outcome: plan.Hit, Key: key, Preimage: []byte(`{"config":` + s.config + `}`), Took: time.Hour,
				Result: &artifacts.Result{Key: key, Outputs: s.outputs, Took: time.Hour, Finished: time.Unix(1e9, 0), Counts: s.counts, Used: s.used,
					Env: map[string]string{"revision": "abc", "platform": "linux/amd64, 8 processors", "host": "secret"}, Origin: artifacts.Origin{RunID: "run1"}}}
		}
		v.Items = append(v.Items, it)
	}
	g, sizes := report.Gather(v.Plan, nil), NewSizes(reg, v.Plan)
	spent := &usage.Spent{Runs: 2, Failed: usage.Lost{Steps: 1, Took: 30 * time.Minute, TookS: 1800}, Cancelled: usage.Lost{Steps: 2, Took: time.Hour, TookS: 3600}}
	for i := range v.Items {
		if r := v.Items[i].Result; r != nil {
			sizes.Note(i, r)
			g.Keep(i, &v.Items[i])
			spent.Results.Add(r.Took, r.Used)
		}
	}
	r, err := g.Build(t.Context(), v, store.Blobs.Open, report.Options{Paper: pipeline.Paper{Title: "A *study*", Authors: []string{"A", "B"}}})
	testkit.None(t, err)
	models, _, err := sizes.Read(t.Context(), store.Blobs)
	testkit.None(t, err)
	l, ok := questions.Of(list)
	if !ok {
		t.Fatal(list)
	}
	return Input{List: l, Said: said, Vars: map[string]json.RawMessage{"data": json.RawMessage(`"/home/me/data"`), "seeds": json.RawMessage(`3`)}, Plan: v.Plan, Report: r, Spent: spent, Parameters: models,
		Command: func(verb string, args ...string) string {
			return strings.Join(append([]string{"redsi", verb}, args...), " ")
		}}
}

var said = pipeline.Checklist{
	Selection: pipeline.Said{Text: "By the development set.", Pos: pipeline.Pos{File: "p.hcl", Line: 20}},
	Search:    []pipeline.Bound{{Name: "rate", Said: pipeline.Said{Text: "0.1, 0.2", Pos: pipeline.Pos{File: "p.hcl", Line: 21}}}},
	Assets: []pipeline.Asset{{Type: "dataset", Name: "X", License: "CC0", Languages: []string{"English"}, URL: "https://example.org", About: "numbers", Pos: pipeline.Pos{File: "p.hcl", Line: 22}},
		{Type: "model", Name: "M", Pos: pipeline.Pos{File: "/home/me/p.hcl", Line: 23}}},
	Answers: map[string]map[string]pipeline.Said{"acl": {"A1": {Text: "Section 5.", Pos: pipeline.Pos{File: "p.hcl", Line: 24}}, "B1": {Text: "Section 2.", Pos: pipeline.Pos{File: "p.hcl", Line: 25}}}},
}

// TestGolden pins the lists of a small pipeline, in Markdown, and one as JSON.
func TestGolden(t *testing.T) {
	for _, name := range questions.Names() {
		c := Fill(study(t, 5, said, name))
		text := c.Markdown()
		goldens.Same(t, "testdata/"+name+".md", text)
		if strings.Contains(text, "/home/me") || strings.Contains(text, "secret") {
			t.Errorf("%s names a folder or a machine:\n%s", name, text)
		}
		if name == "acl" {
			b, err := json.MarshalIndent(c, "", " ")
			testkit.None(t, err)
			goldens.Same(t, "testdata/acl.json", string(b)+"\n")
		}
	}
}

// TestNothingKnown: where nothing has run or was said, everything outside of the pipeline is blank.
func TestNothingKnown(t *testing.T) {
	in := study(t, 0, pipeline.Checklist{}, "acl")
	in.Spent = &usage.Spent{Results: usage.Sum{}}
	c := Fill(in)
	blank := map[string]bool{}
	for _, q := range c.Questions {
		blank[q.Number] = q.Blank
		for _, a := range q.Answers {
			if !a.Blank && a.From == "" {
				t.Errorf("%s: %q comes from nowhere", q.Number, a.Text)
			}
		}
	}
	for _, number := range []string{"A1", "A2", "B3", "B6", "D1", "E1"} {
		if !blank[number] {
			t.Errorf("%s is answered", number)
		}
	}
	testkit.Says(t, c.Markdown(),
		unanswered+" the licence of what step.download.x brings in (p.hcl:1)",
		unanswered+" the number of parameters of models: no result has one",
		unanswered+" how the reported results were selected",
		unanswered+" means and deviations: no table has run",
		"| tab:x | `redsi run --target table.x` | 0 of 5 | ? | – | ? | 0 B and 1 file of unknown size |")
	in.List.Questions = []questions.Question{{Number: "1", About: []questions.Topic{"of a later list"}}}
	testkit.Is(t, Fill(in).Blank, 1, "a topic that nothing answers")
}

// TestPlain: a text from outside stays a text.
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a_b_c _d_ *x* <b> `c` [l](u) | \\": `a_b_c \_d\_ \*x\* \<b> \` + "`c\\`" + ` \[l](u) \| \\`,
		"two\nlines\x1b[31m":                `two lines\\x1b\[31m`,
	} {
		testkit.Is(t, plain(in), want, "plain", in)
	}
}
