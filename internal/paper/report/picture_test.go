package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// block is a step that reads others, by their places in the plan.
func block(name string, deps ...int) plan.Step {
	return plan.Step{Address: "step.work." + name, Task: step.Task{Kind: "work"}, Deps: deps}
}

func TestPicture(t *testing.T) {
	g := Gather(&plan.Plan{Steps: []plan.Step{
		block("a"), block("b", 0), block("c", 0, 1), block("late"), block(`d["1"]`, 2, 3), block(`d["2"]`, 2),
		{Address: "table.t", Task: step.Task{Kind: "render_table"}, Deps: []int{0, 4}},
	}}, nil)
	g.blocks["step.work.d"].Done = 1
	p := g.picture([]*Item{{Address: "table.t", Index: 6, State: Done}})
	layers := map[string]int{"step.work.a": 0, "step.work.b": 1, "step.work.c": 2, "step.work.late": 2, "step.work.d": 3}
	if len(p.Boxes) != len(layers) {
		t.Fatalf("%d boxes, want %d", len(p.Boxes), len(layers))
	}
	for _, b := range p.Boxes {
		testkit.Is(t, b.layer, layers[b.Address], b.Address)
	}
	d := p.Boxes[4]
	if d.Steps != 2 || d.State() != "some" || d.Share() != d.W/2 || len(d.Marks) != 1 || d.Marks[0].State != "done" {
		t.Errorf("the last box is %+v", d)
	}
	if len(p.Lines) != 4 { // a-b, b-c, c-d, late-d; the way over b says a-c
		t.Errorf("%d lines: %+v", len(p.Lines), p.Lines)
	}
}

// Each block of a layer reads all of the layer before: there are 4 to the power of 19 ways.
func TestPictureOfManyWays(t *testing.T) {
	var steps []plan.Step
	for layer := range mostLayers {
		for n := range mostPictured / mostLayers {
			s := block(fmt.Sprintf("l%d_%d", layer, n))
			for from := max(0, layer*4-4); from < layer*4; from++ {
				s.Deps = append(s.Deps, from)
			}
			steps = append(steps, s)
		}
	}
	g := Gather(&plan.Plan{Steps: steps}, nil)
	for _, b := range g.blocks {
		b.Steps = 1_000_000
	}
	p := g.picture(nil)
	if p == nil || len(p.Lines) != 16*(mostLayers-1) || !p.Long() {
		t.Fatalf("the picture is %+v", p)
	}
	if p := Gather(&plan.Plan{Steps: append(steps, block("more"))}, nil).picture(nil); p != nil {
		t.Error("more blocks than can be seen are drawn")
	}
}

func TestTimeline(t *testing.T) {
	g := Gather(&plan.Plan{}, nil)
	if g.timeline() != nil {
		t.Error("there is a timeline of nothing")
	}
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	work := func(address, run string, from, to int) {
		at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
		g.worked(address, &artifacts.Result{Took: at(to).Sub(at(from)), Finished: at(to), Origin: artifacts.Origin{RunID: run}})
	}
	work(`step.work.a["1"]`, "old", 0, 10)
	work(`step.work.a["1"]`, "new", 100, 140)
	work(`step.work.a["2"]`, "new", 120, 150) // meanwhile: one bar
	work(`step.work.a["3"]`, "new", 190, 200)
	work("table.t", "new", 200, 201)
	tl := g.timeline()
	if tl == nil || tl.Run != "new" || tl.Steps != 4 || tl.Took != 81*time.Second || tl.Wall != 101*time.Second || !tl.Start.Equal(start.Add(100*time.Second)) {
		t.Fatalf("the timeline is %+v", tl)
	}
	if len(tl.Rows) != 2 || tl.Rows[0].Name != "step.work.a" || len(tl.Rows[0].Bars) != 2 || tl.Rows[1].Name != "tables and figures" {
		t.Errorf("its rows are %+v", tl.Rows)
	}
	for i := range mostTimed + 5 {
		work(fmt.Sprintf("step.work.b%d", i), "new", 100, 101+i)
	}
	if tl := g.timeline(); len(tl.Rows) != mostTimed {
		t.Errorf("%d rows, want %d", len(tl.Rows), mostTimed)
	}
}

// A box has its block's own name, of a source too, whose kind is no part of its address.
func TestPictureNames(t *testing.T) {
	g := Gather(&plan.Plan{Steps: []plan.Step{
		{Address: "source.t", Task: step.Task{Kind: "source"}},
		{Address: "source.documents", Task: step.Task{Kind: "source"}},
		{Address: `module.m["a.b"].step.work.fit["x.y"]`, Task: step.Task{Kind: "work"}},
	}}, nil)
	var names []string
	for _, b := range g.picture(nil).Boxes {
		names = append(names, b.Name)
	}
	testkit.Is(t, strings.Join(names, " "), "t documents fit")
}
