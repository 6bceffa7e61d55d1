package expect_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// study is a preview of two tables, the second of which has not run, at a scale.
func study(t *testing.T, scale string) (*plan.Preview, artifacts.Store) {
	t.Helper()
	store := mem.New()
	table := &render.Table{Paper: "tab:a", Scale: scale, Stubs: []string{"s"}, Columns: []render.Column{
		{ID: "n", Title: "N", Format: render.Format{Style: "integer"}}, {ID: "p", Title: "P", Format: render.Format{Style: "fixed", Decimals: 1}}, {ID: "t", Title: "T", Format: render.Format{Style: "text"}}}}
	from := func(c render.Cell) render.Cell { c.Inputs = []string{"sha256:x"}; return c }
	for i, id := range []string{"one", "two"} {
		table.Rows = append(table.Rows, render.Row{ID: id, Titles: []string{id}, Cells: map[string]render.Cell{
			"n": from(render.Number(float64(40 + i))), "p": from(render.Number(62.04 + 10*float64(i))), "t": from(render.Cell{Text: "a | b <i> " + id, Data: true})}})
	}
	var b bytes.Buffer
	testkit.None(t, errors.Join(table.Finish(), table.JSON(&b)))
	drawn := artifacts.Artifact{Type: "table/json", Digest: storetest.Put(t, store, b.Bytes()), Size: int64(b.Len())}
	head := fmt.Sprintf(`{"paper":"tab:a","scale":%q,"paper_scale":"full","expect":`, scale)
	configs := []string{
		head + `[{"cell":"one.n","value":40},{"cell":"two.n","value":42},{"cell":"one.p","value":62.1},{"cell":"two.p","value":80,"severity":"warning"},
			{"cell":"one.t","text":"a | b …"},{"cell":"two.t","value":3,"shown":true},{"cell":"one.n","value":7,"scale":"toy"},{"cell":"two.n","at":{"toy":41,"full":9}}]}`,
		head + `[{"cell":"one.n","value":1}]}`,
	}
	v := &plan.Preview{Plan: &plan.Plan{}}
	for i, name := range []string{"a", "b"} {
		pos := pipeline.Pos{File: "p.hcl", Line: 10 * (i + 1)}
		v.Plan.Steps = append(v.Plan.Steps, plan.Step{Address: "table." + name, Pos: pos, AttrPos: map[string]pipeline.Pos{"expect": {File: "p.hcl", Line: pos.Line + 1}, "expect[1]": {File: "p.hcl", Line: pos.Line + 2}},
			Task: step.Task{Kind: "render_table", Config: []byte(configs[i])}})
		v.Items = append(v.Items, plan.Item{Outcome: plan.Run})
	}
	v.Items[0] = plan.Item{Outcome: plan.Hit, Result: &artifacts.Result{Outputs: map[string]artifacts.Artifact{"json": drawn}}}
	return v, store
}

func claims() (list []pipeline.Claim) {
	for i, c := range []struct{ name, config string }{
		{"above", `{"text":"One is above two.","paper":"sec:one","expect":[{"cell":"table.a:one.p","above":["table.a:two.p"]}]}`},
		{"below", `{"text":"One is <b>below</b> | two.","expect":[{"cell":"table.a:one.p","below":["table.a:two.p"]},{"name":"gap","minus":["table.a:two.p","table.a:one.p"],"value":10}]}`},
		{"mild", `{"text":"Negative.","severity":"info","expect":[{"cell":"table.a:one.n","sign":"negative"}]}`},
		{"across", `{"text":"The tables agree.","expect":[{"cell":"table.a:one.n","above":["table.b:one.n"]}]}`},
		{"toy", `{"text":"By construction.","expect":[{"cell":"table.a:one.n","sign":"negative"},{"cell":"table.a:one.n","sign":"positive","scale":"toy"}]}`},
		{"nearly", `{"text":"Nearly.","expect":[{"minus":["table.a:two.p","table.a:one.p"],"value":11,"near":2}]}`},
	} {
		cells := map[string][]string{"across": {"table.a:one.n", "table.b:one.n"}}[c.name]
		if cells == nil {
			cells = []string{"table.a:one.p"}
		}
		list = append(list, pipeline.Claim{Name: c.name, Config: []byte(c.config), Cells: cells, Pos: pipeline.Pos{File: "p.hcl", Line: 100 + i}})
	}
	return list
}

func judge(t *testing.T, scale string) *expect.Judged {
	t.Helper()
	v, store := study(t, scale)
	j, err := expect.Judge(t.Context(), v, claims(), store.Blobs.Open)
	testkit.None(t, err)
	return j
}

// TestApart: what is no reproduction says so, and which part of the paper it is.
func TestApart(t *testing.T) {
	const not = "not a reproduction of the paper"
	for _, c := range []struct{ scale, part, want string }{
		{"full", "", ""}, {"", "", ""}, {"toy", "", "scale toy: " + not},
		{"toy", "6 of 55 files", "scale toy: 6 of 55 files; " + not}, {"full", "6 of 55 files", "6 of 55 files; " + not},
	} {
		j := judge(t, c.scale)
		j.Part = c.part
		testkit.Is(t, j.Only().Summary().Apart, c.want, c.scale, c.part)
	}

	// Some tables at the paper's scale, and nothing expected at another: no reader takes that for its scale.
	j := judge(t, "full")
	j.Claims = nil
	of := []expect.Item{j.Items[0], {Scale: "sample", Other: true, Checks: []expect.Check{{Check: render.Check{Verdict: render.NotComparable}}}}}
	j.Items = of
	got := j.Summary().Sentence()
	testkit.Says(t, got, "expectations hold at the paper's scale", "1 not comparable at scale sample")
	if of[1].Checks[0].Verdict = render.Matches; !strings.Contains(j.Summary().Sentence(), "expectations hold at scale full, sample") {
		t.Error(j.Summary().Sentence())
	}
}

// TestJudge: what is expected is judged at its scale, and claims by the worst of what must hold.
func TestJudge(t *testing.T) {
	for scale, want := range map[string]string{
		"full": "one.n match, two.n differs, one.p near, two.p differs, one.t match, two.t shown, two.n differs; one.n not run; above broken, below holds, mild broken, across not run, toy broken, nearly near; " +
			"3 of 11 expectations hold at scale full, 2 near, 4 fail, 2 warned of, 2 not run, 1 shown only",
		"toy": "one.n not comparable, two.n not comparable, one.p not comparable, two.p not comparable, one.t not comparable, two.t not comparable, one.n differs, two.n match; one.n not comparable; " +
			"above not comparable, below not comparable, mild not comparable, across not comparable, toy holds, nearly not comparable; 2 of 3 expectations hold at scale toy, 1 fail, 12 not comparable at this scale",
		"": "one.n match, two.n differs, one.p near, two.p differs, one.t match, two.t shown, two.n differs; one.n not run; above broken, below holds, mild broken, across not run, toy broken, nearly near; " +
			"3 of 11 expectations hold, 2 near, 4 fail, 2 warned of, 2 not run, 1 shown only",
	} {
		j := judge(t, scale)
		parts := lists.Map(j.Items, func(it expect.Item) string {
			return strings.Join(lists.Map(it.Checks, func(c expect.Check) string { return c.Cell + " " + string(c.Verdict) }), ", ")
		})
		verdicts := lists.Map(j.Claims, func(c expect.Claim) string { return c.Name + " " + string(c.Verdict) })
		parts = append(parts, strings.Join(verdicts, ", "), j.Summary().Sentence())
		testkit.Is(t, strings.Join(parts, "; "), want, "at", scale)
		if s := j.Summary(); s.Ok(false) != (s.Fail == 0) || s.Ok(true) && s.NotRun > 0 {
			t.Errorf("at %q: %+v", scale, s)
		}
	}
	j := judge(t, "full")
	testkit.Is(t, j.Items[0].Checks[1].Pos.Line, 12, "the second expectation is at line")
	j.Items = j.Items[:1]
	if only := j.Only(); len(only.Claims) != len(j.Claims)-1 || slices.ContainsFunc(only.Claims, func(c expect.Claim) bool { return c.Name == "across" }) {
		t.Errorf("claims about one table: %+v", only.Claims)
	}
	if touched := expect.Touched(claims(), "table.b"); len(touched) != 1 || touched[0].Name != "across" {
		t.Errorf("claims about table.b: %+v", touched)
	}
}

// TestForms holds JUnit's XML, of the elements that Jenkins' junit-10.xsd has, and Markdown.
func TestForms(t *testing.T) {
	j := judge(t, "full")
	for name, write := range map[string]func(io.Writer) error{"junit.xml": j.JUnit, "expectations.md": j.Markdown} {
		var b bytes.Buffer
		testkit.None(t, write(&b))
		goldens.Same(t, "testdata/"+name, b.String())
	}
}

// TestValues: what cells are is written such that a pipeline that expects it finds it.
func TestValues(t *testing.T) {
	v, store := study(t, "toy")
	var b bytes.Buffer
	testkit.None(t, expect.Values(t.Context(), v, store.Blobs.Open, &b))
	const want = `block,cell,value,text
table.a,one.n,40,
table.a,one.p,62.0,
table.a,one.t,,a | b <i> one
table.a,two.n,41,
table.a,two.p,72.0,
table.a,two.t,,a | b <i> two
`
	testkit.Is(t, b.String(), want)
}

// TestDamaged: a table that cannot be read is told by its address.
func TestDamaged(t *testing.T) {
	v, store := study(t, "full")
	v.Items[0].Result.Outputs["json"] = artifacts.Artifact{Digest: storetest.Put(t, store, []byte("{")), Size: 1}
	testkit.ErrSays(t, testkit.Err(expect.Judge(t.Context(), v, nil, store.Blobs.Open)), "table.a: ")
	v.Items[0].Result.Outputs = nil
	testkit.ErrSays(t, testkit.Err(expect.Judge(t.Context(), v, nil, store.Blobs.Open)), `no output "json"`)
}
