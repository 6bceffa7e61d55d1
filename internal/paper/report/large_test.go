package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// grid makes a preview of the paper's size: trainings with their curves, an
// evaluation of each, and tables of ten rows and nine numbers, five seeds each.
type grid struct {
	t     *testing.T
	store artifacts.Store
	v     *plan.Preview
}

func (g *grid) put(typ string, text []byte) artifacts.Artifact {
	return artifacts.Artifact{Type: typ, Digest: storetest.Put(g.t, g.store, text), Size: int64(len(text))}
}

func (g *grid) add(address, kind, config string, outputs map[string]artifacts.Artifact) {
	n := len(g.v.Plan.Steps)
	key := artifacts.Sum([]byte(address))
	g.v.Plan.Steps = append(g.v.Plan.Steps, plan.Step{Address: address, Task: step.Task{Kind: kind, Config: json.RawMessage(config)}, Pos: pipeline.Pos{File: "p.hcl", Line: n + 1}})
	g.v.Items = append(g.v.Items, plan.Item{Outcome: plan.Hit, Key: key, Preimage: []byte(`{"config":` + config + `}`),
		Result: &artifacts.Result{Key: key, Outputs: outputs, Took: 20 * time.Hour, Finished: time.Unix(1e9, 0), Counts: map[string]int64{"indexing examples": 1, "retrieval examples": 2},
			Env: map[string]string{"revision": "abc", "device": "cuda"}, Origin: artifacts.Origin{RunID: "run1", WorkflowID: "step/" + key.Hex()}}})
}

// curve is the history of a training that was evaluated n times; the best evaluation is number best.
func (g *grid) curve(n, best int) artifacts.Artifact {
	type point struct {
		Step    int                `json:"step"`
		Seconds float64            `json:"seconds"`
		Loss    float64            `json:"loss"`
		Metrics map[string]float64 `json:"metrics,omitempty"`
	}
	var points []point
	for i := range n {
		v := 0.6 * float64(i+1) / float64(n)
		if i == best {
			v = 0.7
		}
		points = append(points, point{5000 * (i + 1), 3600 * float64(i+1), 9 / float64(i+1), map[string]float64{"MRR@10": v}})
	}
	b, err := json.Marshal(map[string]any{"select": "MRR@10", "points": points})
	testkit.None(g.t, err)
	return g.put("train/curve", b)
}

const trainings = 150

func newGrid(t *testing.T) *grid {
	g := &grid{t: t, store: mem.New(), v: &plan.Preview{Plan: &plan.Plan{Pipeline: "p.hcl"}}}
	var reports []artifacts.Artifact
	for i := range trainings {
		g.add(fmt.Sprintf(`step.train.dsi["%d"]`, i), "train", fmt.Sprintf(`{"seed":%d,"steps":1000000,"batch":128,"ratio":"natural","learning_rate":0.001,"select":"MRR@10"}`, i),
			map[string]artifacts.Artifact{"curve": g.curve(200, i)})
		metrics := g.put("dsi/metrics", fmt.Appendf(nil, `{"percent":{"raw":{"hits_1":%d,"mrr_10":1},"post_filtered":{"hits_1":1,"mrr_10":1},"invalid_40":3},"queries":7830}`, i))
		reports = append(reports, metrics)
		g.add(fmt.Sprintf(`step.evaluate.dsi["%d"]`, i), "evaluate", fmt.Sprintf(`{"model":{"$ref":{"step":"step.train.dsi[\"%d\"]","output":"curve"}},"beams":40,"decoding":"unconstrained"}`, i),
			map[string]artifacts.Artifact{"report": metrics})
	}
	for k := range 30 {
		table := &render.Table{Name: fmt.Sprint(k), Paper: fmt.Sprint("tab:", k), Scale: "full", Stubs: []string{"Row"}}
		var refs, expected []string
		for c := range 9 {
			table.Columns = append(table.Columns, render.Column{ID: fmt.Sprint("c", c), Title: "H@1", Groups: []string{fmt.Sprint("Group ", c/3)}, Format: render.Format{Style: "fixed", Decimals: 1, Std: true}})
		}
		for r := range 10 {
			row := render.Row{ID: fmt.Sprint("r", r), Titles: []string{fmt.Sprint("Row ", r)}, Cells: map[string]render.Cell{}}
			var inputs []string
			for s := range 5 {
				n := (k*50 + r*5 + s) % trainings
				inputs = append(inputs, reports[n].Digest.String())
				refs = append(refs, fmt.Sprintf(`{"value":{"$ref":{"step":"step.evaluate.dsi[\"%d\"]","output":"report"}}}`, n))
			}
			for c := range 9 {
				cell := render.Mean([]float64{60, 61, 62, 63, 64})
				cell.Inputs = inputs
				row.Cells[fmt.Sprint("c", c)] = cell
				expected = append(expected, fmt.Sprintf(`{"cell":"r%d.c%d","value":62}`, r, c))
			}
			table.Rows = append(table.Rows, row)
		}
		var j, l bytes.Buffer
		testkit.None(t, errors.Join(table.Finish(), table.JSON(&j), table.LaTeX(&l)))
		g.add(fmt.Sprint("table.t", k), "render_table", fmt.Sprintf(`{"paper":"tab:%d","rows":[%s],"expect":[%s]}`, k, strings.Join(refs, ","), strings.Join(expected, ",")),
			map[string]artifacts.Artifact{"json": g.put("table/json", j.Bytes()), "latex": g.put("table/latex", l.Bytes())})
	}
	return g
}

// TestReportIsBounded: of 30,000 steps the page shows tables, figures and what they come
// from, then some others, and says how many it leaves out and where they are.
func TestReportIsBounded(t *testing.T) {
	g := newGrid(t)
	counts := g.put("counts", []byte(`{}`))
	before := len(g.v.Plan.Steps)
	for i := range 30_000 {
		g.add(fmt.Sprintf(`step.count.w["%d"]`, i), "count", fmt.Sprintf(`{"text":"only %d"}`, i), map[string]artifacts.Artifact{"out": counts})
	}
	for i := range g.v.Items {
		g.v.Items[i].Took, g.v.Items[i].Bytes = time.Duration(i)*time.Second, 10
	}
	// What no table comes from stands first in the plan.
	steps, items := g.v.Plan.Steps, g.v.Items
	g.v.Plan.Steps = append(slices.Clone(steps[before:]), steps[:before]...)
	g.v.Items = append(slices.Clone(items[before:]), items[:before]...)
	index := map[string]int{}
	for i, s := range g.v.Plan.Steps {
		index[s.Address] = i
		refs, err := s.Task.Refs()
		testkit.None(t, err)
		for _, r := range refs {
			g.v.Plan.Steps[i].Deps = append(g.v.Plan.Steps[i].Deps, index[r.Step])
		}
	}
	gather := report.Gather(g.v.Plan, nil)
	kept := 0
	for i := range g.v.Items {
		if gather.Keep(i, &g.v.Items[i]) {
			kept++
		} else {
			g.v.Items[i].Result, g.v.Items[i].Preimage = nil, nil
		}
	}
	testkit.Is(t, kept, 1000, "results are kept")
	r, err := gather.Build(t.Context(), g.v, g.store.Blobs.Open, report.Options{})
	testkit.None(t, err)
	var b bytes.Buffer
	testkit.None(t, r.HTML(&b))
	s := b.String()
	checkLinks(t, s)
	if most := 5 << 20; len(s) > most {
		t.Errorf("the page has %d bytes, more than %d", len(s), most)
	}
	says(t, s, []string{
		fmt.Sprintf("<b>%d / %d</b>steps have results", before+30_000, before+30_000),
		fmt.Sprintf("1000 of %d steps: tables and figures, what they come from", before+30_000),
		fmt.Sprintf("And %d more steps, which took less time.", before+29_000),
		fmt.Sprintf("And %d more steps; their blocks have the sums.", before+29_000),
		`<span class="name">step.count.w</span> <span class="dim">count · 30000 of 30000 done`, `<b>30,000</b>`,
		"<code>redsi plan --all</code>", "<code>redsi report --target STEP</code>",
		`only 1&#34;`, `step.train.dsi[&#34;149&#34;]</span>`,
	}, "only 29999") // a step beyond the bound is not shown with its configuration
	testkit.Is(t, strings.Count(s, `<polyline class="metric`), trainings, "curves")
}

func TestCurves(t *testing.T) {
	g := &grid{t: t, store: mem.New(), v: &plan.Preview{Plan: &plan.Plan{Pipeline: "p.hcl"}}}
	g.add("step.train.a", "train", `{}`, map[string]artifacts.Artifact{"curve": g.curve(300, 77)})
	g.add("step.train.b", "train", `{}`, map[string]artifacts.Artifact{"curve": g.put("train/curve", []byte(`{"select":"MRR@10","points":[{"step":10,"loss":3}]}`))})
	g.add("step.train.c", "train", `{}`, map[string]artifacts.Artifact{"curve": g.put("train/curve", []byte(`{"select":"MRR@10","points":null}`))})
	s := page(t, g.v, g.store, report.Options{})
	says(t, s, []string{"MRR@10 (%) <b>70</b> at step 390,000 of 1,500,000, 78 h 0 min; loss 0.03", "10 steps, not evaluated; loss 3"})
	testkit.Is(t, strings.Count(s, `<svg class="curve"`), 2, "curves of two trainings with points")
	for _, line := range strings.Split(s, `points="`)[1:] {
		if n := strings.Count(line[:strings.IndexByte(line, '"')], ","); n > 85 {
			t.Errorf("a line of %d points", n)
		}
	}
	g.add("step.train.d", "train", `{}`, map[string]artifacts.Artifact{"curve": g.put("train/curve", []byte(`[]`))})
	testkit.ErrSays(t, testkit.Err(report.Build(context.Background(), g.v, g.store.Blobs.Open, report.Options{})), "step.train.d.curve")
}
