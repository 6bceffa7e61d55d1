package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// study makes a preview by hand: a download, a step that counts, a table that
// reads the counts and a figure; steps from the given index on have not run.
func study(t *testing.T, scale string, ran int) (*plan.Preview, artifacts.Store) {
	t.Helper()
	store := mem.New()
	put := func(typ, s string) artifacts.Artifact {
		return artifacts.Artifact{Type: typ, Digest: storetest.Put(t, store, []byte(s)), Size: int64(len(s))}
	}
	file := put("file", "1 2 3")
	files, err := artifacts.Tree("files", []artifacts.File{{Name: "a.txt", Digest: file.Digest, Size: file.Size}})
	testkit.None(t, err)
	counts := put("counts", `{"n":42}`)
	n := render.Number(42)
	n.Inputs = []string{counts.Digest.String()}
	constant := render.Number(7)
	table := &render.Table{Paper: "tab:x", Caption: "A <b>caption</b> & more", Scale: scale, PaperScale: "full", Stubs: []string{"Key"},
		Columns: []render.Column{{ID: "n", Title: "N", Groups: []string{"Group"}, Format: render.Format{Style: "integer"}}, {ID: "k", Title: "K", Format: render.Format{Style: "fixed"}}},
		Rows: []render.Row{{Section: "<i>All</i>"}, {ID: "one", Titles: []string{"<script>alert(1)</script>"}, Cells: map[string]render.Cell{"n": n, "k": constant}},
			{Rule: true}, {ID: "two", Titles: []string{"2"}, Cells: map[string]render.Cell{"k": {Text: "<b>", Data: true}}}}}
	testkit.None(t, table.Finish())
	figure := &render.Figure{Paper: "fig:x", Scale: scale, PaperScale: "full", Width: 8, X: &render.Axis{Title: "x"}, Y: &render.Axis{Title: "y"},
		Series: []render.Series{{ID: "s", Title: "S", Color: "naive", Line: "solid", Points: []render.Point{{ID: "p", X: render.Number(1), Y: n, Marker: "circle"}}}}}
	written := func(f func(io.Writer) error) string {
		var b bytes.Buffer
		testkit.None(t, f(&b))
		return b.String()
	}
	all := []struct {
		address, kind, config string
		deps                  []int
		outputs               map[string]artifacts.Artifact
	}{
		{"step.download.x", "download", `{"urls":["https://example.org/a.txt"],"names":["a.txt"],"sha256":["pinned"],"license":"CC0"}`, nil, map[string]artifacts.Artifact{"files": files}},
		{`step.count.x["a"]`, "count", `{"files":{"$ref":{"step":"step.download.x","output":"files"}},"options":{"deep":[1,2]},"on":true}`, []int{0}, map[string]artifacts.Artifact{"counts": counts}},
		{"table.x", "render_table", `{"paper":"tab:x","caption":"C","scale":"` + scale + `","paper_scale":"full","rows":[{"value":{"$ref":{"step":"step.count.x[\"a\"]","output":"counts"}}}],"expect":[{"cell":"one.n","value":42,"std":0.5},{"cell":"one.k","value":9},{"cell":"two.n","value":1}]}`, []int{1},
			map[string]artifacts.Artifact{"json": put("table/json", written(table.JSON)), "latex": put("table/latex", written(table.LaTeX))}},
		{"figure.x", "render_figure", `{"paper":"fig:x","expect":[{"cell":"s.p.y","value":42},{"cell":"s.p.x","value":1}],"scale":"` + scale + `","paper_scale":"full","series":[{"y":{"$ref":{"step":"step.count.x[\"a\"]","output":"counts"}}}]}`, []int{1},
			map[string]artifacts.Artifact{"json": put("figure/json", written(figure.JSON)), "svg": put("figure/svg", written(figure.SVG)), "pdf": put("figure/pdf", written(figure.PDF))}},
	}
	v := &plan.Preview{Plan: &plan.Plan{Pipeline: "p.hcl"}}
	for i, s := range all {
		v.Plan.Steps = append(v.Plan.Steps, plan.Step{Address: s.address, Task: step.Task{Kind: s.kind, Config: json.RawMessage(s.config)}, Deps: s.deps, Pos: pipeline.Pos{File: "p.hcl", Line: i + 1}})
		it := plan.Item{Outcome: plan.Maybe, Rare: &plan.Snags{Waits: s.deps}}
		if i < ran {
			key := artifacts.Sum([]byte(s.address))
			it = plan.Item{Outcome: plan.Hit, Key: key, Preimage: []byte(`{"config":` + s.config + `}`),
				Result: &artifacts.Result{Key: key, Outputs: s.outputs, Took: time.Second, Finished: time.Unix(1e9, 0), Counts: map[string]int64{"records dropped": int64(i)},
					Env: map[string]string{"revision": "abc"}, Origin: artifacts.Origin{RunID: "run1", WorkflowID: "step/" + key.Hex()}}}
		}
		v.Items = append(v.Items, it)
	}
	return v, store
}

func page(t *testing.T, v *plan.Preview, store artifacts.Store, o report.Options) string {
	t.Helper()
	r, err := report.Build(context.Background(), v, store.Blobs.Open, o)
	testkit.None(t, err)
	var b bytes.Buffer
	testkit.None(t, r.HTML(&b))
	return b.String()
}

// TestPage checks what each page must and must not say.
func TestPage(t *testing.T) {
	const reproduction = "not a reproduction"
	for _, c := range []struct {
		name, scale, part string
		ran               int
		has, hasNot       []string
	}{
		{"full", "full", "", 4, []string{"Complete", `class="scale full complete"`, `<span class="state" title="match">✓`, `<span class="state" title="differs">✗`, `<td class="state not run">not run</td>`, "−2", "<i>All</i>", "A <b>caption</b> &amp; more", "CC0", "records dropped", "redsi trace table.x:one.n", `download="x.json"`, `aria-label="Graph of 2 blocks`, `Timeline of run run1: 4 steps`, "hollow diamonds", "2 steps in all, from <a href=\"#step-0\">step.download.x</a>", "http://ui/namespaces/default/workflows/step%2F", `&lt;b&gt;`, "&lt;script&gt;"}, []string{reproduction, "<script>alert", "not comparable"}},
		{"toy", "toy", "a fifth of the files", 4, []string{"scale toy: a fifth of the files; " + reproduction, "<b>Not a reproduction</b>", "are not comparable with the paper's", "6 numbers and texts", "The paper's points"}, []string{`title="match"`, "Complete", " checked"}},
		{"tables not run", "full", "", 2, []string{"Incomplete", `class="scale full"`, "<code>one.n.std</code>", `<span class="state not">not run</span>`, `>42<`, "tab:x"}, []string{"<img"}},
		{"nothing run", "full", "", 0, []string{"Incomplete", "not known yet", "waits for"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, store := study(t, c.scale, c.ran)
			s := page(t, v, store, report.Options{UI: "http://ui", Namespace: "default", Paper: pipeline.Paper{Part: c.part}})
			says(t, s, c.has, c.hasNot...)
			checkLinks(t, s)
		})
	}
}

// says checks what a text has and has not.
func says(t *testing.T, text string, has []string, hasNot ...string) {
	t.Helper()
	testkit.Says(t, text, has...)
	for _, not := range hasNot {
		if strings.Contains(text, not) {
			t.Errorf("it says %q", not)
		}
	}
}

// checkLinks parses the page: fragment links have targets, ids are unique, and nothing is loaded from anywhere.
func checkLinks(t *testing.T, page string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	testkit.None(t, err)
	ids, links, scripts := map[string]bool{}, map[string]bool{}, 0
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "iframe" {
			t.Error("the page has an <iframe>")
		}
		if n.Type == html.ElementNode && n.Data == "script" {
			scripts++
			if sum := sha256.Sum256([]byte(n.FirstChild.Data)); !strings.Contains(html.UnescapeString(page[:1000]), "script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
				t.Error("the page's policy does not allow its script")
			}
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("id %s twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				links[a.Val[1:]] = true
			case a.Key == "src" && n.Data == "img" && strings.HasPrefix(a.Val, "data:image/svg+xml;base64,"): // where nothing runs
			case a.Key == "src", a.Key == "href" && n.Data == "link" && a.Val != "data:,":
				t.Errorf("the page loads %s", a.Val)
			}
		}
	}
	testkit.Is(t, scripts, 1, "the page has scripts")
	for l := range links {
		if !ids[l] {
			t.Errorf("#%s leads nowhere", l)
		}
	}
}

func TestTrace(t *testing.T) {
	v, store := study(t, "full", 4)
	for _, c := range []struct {
		name    string
		value   float64
		sources int
		steps   []string
		err     string
	}{
		{"table.x:one.n", 42, 1, []string{`step.count.x["a"]`, "step.download.x"}, ""},
		{"table.x:one.k", 7, 0, nil, ""},
		{"figure.x:s.p.y", 42, 1, []string{`step.count.x["a"]`, "step.download.x"}, ""},
		{"table.x:nine.n", 0, 0, nil, "no row"},
		{"figure.x:s.q.y", 0, 0, nil, "no point"},
		{"table.y:one.n", 0, 0, nil, "no such table"},
		{"table.x", 0, 0, nil, "ROW.COLUMN"},
	} {
		got, err := report.TraceCell(context.Background(), v, nil, store.Blobs.Open, c.name)
		if c.err != "" {
			if unknown, ok := errors.AsType[*report.UnknownCell](err); !ok || !strings.Contains(unknown.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
			continue
		}
		testkit.None(t, err)
		steps := lists.Map(got.Steps, func(n report.Node) string { return n.Address })
		if *got.Value != c.value || len(got.Sources) != c.sources || fmt.Sprint(steps) != fmt.Sprint(c.steps) {
			t.Errorf("%s: %v from %+v by %v", c.name, *got.Value, got.Sources, steps)
		}
		var b bytes.Buffer
		view.Trace(&b, got)
		if c.sources > 0 {
			says(t, b.String(), []string{"options.deep = [1,2]", "counted records dropped: "})
		}
	}
	v.Plan.Steps[2].Address = `table.x["a:b"]`
	if got, err := report.TraceCell(context.Background(), v, nil, store.Blobs.Open, `table.x["a:b"]:one.n`); err != nil || got.Address != `table.x["a:b"]` || *got.Value != 42 {
		t.Errorf("a table with a colon in its key: %+v, %v", got, err)
	}
	v, store = study(t, "full", 2)
	testkit.ErrSays(t, testkit.Err(report.TraceCell(context.Background(), v, nil, store.Blobs.Open, "table.x:one.n")), "has not run")
}

// TestBuildLeavesThePreviewAlone: a report must not change the tasks it reads.
func TestBuildLeavesThePreviewAlone(t *testing.T) {
	v, store := study(t, "full", 4)
	before, err := json.Marshal(v.Plan)
	testkit.None(t, err)
	page(t, v, store, report.Options{})
	after, err := json.Marshal(v.Plan)
	testkit.That(t, err == nil && bytes.Equal(before, after), "the plan changed", err, before, after)
}

// TestSameBytes: a number names both inputs of a table that have the bytes from which it was read.
func TestSameBytes(t *testing.T) {
	v, store := study(t, "full", 4)
	v.Items[0].Result.Outputs["copy"] = v.Items[1].Result.Outputs["counts"]
	v.Plan.Steps[2].Task.Config = json.RawMessage(`{"rows":[{"value":{"$ref":{"step":"step.count.x[\"a\"]","output":"counts"}}},{"value":{"$ref":{"step":"step.download.x","output":"copy"}}},
		{"value":{"$ref":{"step":"step.download.x","output":"copy"}}}]}`)
	got, err := report.TraceCell(context.Background(), v, nil, store.Blobs.Open, "table.x:one.n")
	testkit.None(t, err)
	names := lists.Map(got.Sources, func(s report.Source) string { return fmt.Sprint(s.Step, ".", s.Output, " ", s.Same) })
	if want := `[step.count.x["a"].counts false step.download.x.copy true]`; fmt.Sprint(names) != want {
		t.Errorf("%v, want %s", names, want)
	}
	says(t, page(t, v, store, report.Options{}), []string{"or, with the same bytes, from"})
	var b bytes.Buffer
	view.Trace(&b, got)
	says(t, b.String(), []string{"or, with the same bytes, from step.download.x.copy"})
}
