package estimate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// stepOf is a step of a preview: its kind is the second word of its address.
type stepOf struct {
	address, kind string
	deps          []int
	outcome       plan.Outcome
	took          int // seconds, of a hit
	queue         string
}

func preview(steps ...stepOf) *plan.Preview {
	v := &plan.Preview{Plan: &plan.Plan{}}
	for _, s := range steps {
		v.Plan.Steps = append(v.Plan.Steps, plan.Step{Address: s.address, Task: step.Task{Kind: s.kind}, Deps: s.deps, Queue: s.queue})
		v.Items = append(v.Items, plan.Item{Outcome: s.outcome, Took: time.Duration(s.took) * time.Second, Bytes: int64(1000 * s.took), Memory: int64(1000 * s.took)})
	}
	return v
}

func took(seconds ...int) []Sample {
	return lists.Map(seconds, func(s int) Sample {
		return Sample{Took: time.Duration(s) * time.Second, Bytes: int64(10 * s), Memory: int64(1000 * s)}
	})
}

// TestBasis: a step's own history first, then its block's, then its kind's, and none is said to be none.
func TestBasis(t *testing.T) {
	v := preview(
		stepOf{address: `step.train.a["1"]`, kind: "train", outcome: plan.Hit, took: 5},
		stepOf{address: `step.train.a["2"]`, kind: "train", outcome: plan.Run, queue: "gpu"},
		stepOf{address: `step.train.a["3"]`, kind: "train", outcome: plan.Maybe, deps: []int{1}},
		stepOf{address: `step.train.b`, kind: "train", outcome: plan.Run, queue: "gpu"},
		stepOf{address: `step.fetch.c`, kind: "fetch", outcome: plan.Run},
	)
	e := Of(v, History{
		Samples:   map[int][]Sample{1: took(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
		Downloads: map[int]Download{4: {Bytes: 99, Sources: 2}},
		Resumes:   map[int]bool{1: true},
	})
	want := []Step{
		{},
		{Basis: Itself, P50: 5 * time.Second, P90: 9 * time.Second, Bytes: 50, Memory: 9000, Resumes: true, MemoryBasis: Itself},
		{Basis: Block, P50: 5 * time.Second, P90: 9 * time.Second, Bytes: 60, Memory: 9000, MemoryBasis: Block},
		{Basis: Kind, P50: 5 * time.Second, P90: 9 * time.Second, Bytes: 60, Memory: 9000, MemoryBasis: Kind},
		{Bytes: 99, Download: Download{Bytes: 99, Sources: 2}},
	}
	if d := cmp.Diff(want, e.Each); d != "" {
		t.Errorf("each (-want +got):\n%s", d)
	}
	e.Each = nil
	sum := &Estimate{Cost: Cost{Steps: 4, Unknown: 1, P50: 15, P90: 27, GPU: 10. / 3600, Bytes: 269, Download: 99, Sources: 2},
		GPUSteps: 2, CriticalPath: []int{1, 2}, Critical: 10, Memory: 9000, MemoryOf: 1, MemoryUnknown: 1}
	if d := cmp.Diff(sum, e); d != "" {
		t.Errorf("the whole (-want +got):\n%s", d)
	}
}

// TestWall: bounded by the longest chain, and by what each queue can do.
func TestWall(t *testing.T) {
	e := &Estimate{Cost: Cost{P50: 100 * 60, GPU: 40. / 60}, Critical: 15 * 60}
	for _, x := range []struct{ slots, gpu, want int }{{1, 1, 60}, {2, 1, 40}, {6, 4, 15}, {0, 0, 60}} {
		if got := e.Wall(x.slots, x.gpu); math.Abs(got-60*float64(x.want)) > 1e-9 {
			t.Errorf("with %d and %d slots: %g s, want %d min", x.slots, x.gpu, got, x.want)
		}
	}
}

// TestChain: steps without history are in the longest chain if they are on it, and are counted; hits never are.
func TestChain(t *testing.T) {
	v := preview(
		stepOf{address: "step.k.hit", kind: "h", outcome: plan.Hit, took: 1000},
		stepOf{address: "step.k.a", kind: "k", outcome: plan.Run, deps: []int{0}},
		stepOf{address: "step.k.b", kind: "k", outcome: plan.Run},
		stepOf{address: "step.u.c", kind: "u", outcome: plan.Maybe, deps: []int{0, 1, 2}},
	)
	e := Of(v, History{Samples: map[int][]Sample{1: took(3), 2: took(4)}})
	if d := cmp.Diff([]int{2, 3}, e.CriticalPath); d != "" || e.CriticalUnknown != 1 || e.Critical != 4 {
		t.Errorf("%v, %g, %d unknown", e.CriticalPath, e.Critical, e.CriticalUnknown)
	}
	hits := Of(preview(stepOf{address: "step.k.a", kind: "k", outcome: plan.Hit}), History{})
	if hits.CriticalPath != nil || hits.Steps != 0 || hits.At(0) != (Step{}) || hits.Each != nil || e.At(0) != (Step{}) || e.At(1).P50 != 3*time.Second {
		t.Errorf("of hits alone: %+v", hits)
	}
}

// TestGroups: a block is a group, and so are all tables; what two tables need is in both, and said to be shared.
func TestGroups(t *testing.T) {
	v := preview(
		stepOf{address: "step.k.base", kind: "k", outcome: plan.Run},
		stepOf{address: `step.k.each["1"]`, kind: "k", outcome: plan.Hit, took: 7},
		stepOf{address: `step.k.each["2"]`, kind: "k", outcome: plan.Maybe, deps: []int{0}, queue: "gpu"},
		stepOf{address: "table.a", kind: "table", outcome: plan.Maybe, deps: []int{1, 2}},
		stepOf{address: "module.m.step.k.far", kind: "other", outcome: plan.Run},
		stepOf{address: "table.b", kind: "table", outcome: plan.Maybe, deps: []int{0}},
	)
	e := Of(v, History{Samples: map[int][]Sample{0: took(2), 2: took(3)}, Resumes: map[int]bool{0: true}})
	blocks, of := e.Blocks(v)
	want := []Group{
		{Name: "k.base", Resume: 1, Cost: Cost{Steps: 1, P50: 2, P90: 2, Bytes: 20}},
		{Name: "k.each", Maybe: 1, Hit: 1, Saved: 7, Cost: Cost{Steps: 1, P50: 3, P90: 3, GPU: 3. / 3600, Bytes: 30}},
		{Name: "module.m.k.far", Run: 1, Cost: Cost{Steps: 1, Unknown: 1, Unsized: 1}},
		{Name: "table", Maybe: 2, Cost: Cost{Steps: 2, Unknown: 2, Unsized: 2}},
	}
	if d := cmp.Diff(want, blocks); d != "" {
		t.Errorf("blocks (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]int{0, 1, 1, 3, 2, 3}, of); d != "" {
		t.Error(d)
	}
	tables := []Group{
		{Name: "table.a", Resume: 1, Maybe: 2, Hit: 1, Saved: 7, Cost: Cost{Steps: 3, Unknown: 1, P50: 5, P90: 5, GPU: 3. / 3600, Bytes: 50, Unsized: 1}, Shared: 1, SharedP50: 2},
		{Name: "table.b", Resume: 1, Maybe: 1, Cost: Cost{Steps: 2, Unknown: 1, P50: 2, P90: 2, Bytes: 20, Unsized: 1}, Shared: 1, SharedP50: 2},
		{Run: 1, Cost: Cost{Steps: 1, Unknown: 1, Unsized: 1}},
	}
	if d := cmp.Diff(tables, e.Tables(v)); d != "" {
		t.Errorf("tables (-want +got):\n%s", d)
	}
}

// TestManyTables: more than are looked at together.
func TestManyTables(t *testing.T) {
	steps := []stepOf{{address: "step.k.all", kind: "k", outcome: plan.Run}}
	for i := range 150 {
		steps = append(steps, stepOf{address: fmt.Sprintf("table.t%d", i), kind: "table", outcome: plan.Maybe, deps: []int{0}})
	}
	v := preview(steps...)
	groups := Of(v, History{}).Tables(v)
	for i, g := range groups {
		if want := (Group{Name: fmt.Sprintf("table.t%d", i), Run: 1, Maybe: 1, Cost: Cost{Steps: 2, Unknown: 2, Unsized: 2}, Shared: 1}); g != want {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	if len(groups) != 150 {
		t.Errorf("%d groups", len(groups))
	}
}

func TestParseLimits(t *testing.T) {
	usual := Limits{4 * time.Hour, 20e9}
	for _, c := range []struct {
		above string
		want  *Limits
		err   bool
	}{
		{UsualLimits, &usual, false},
		{"90m", &Limits{90 * time.Minute, 20e9}, false},
		{"1GiB", &Limits{4 * time.Hour, 1 << 30}, false},
		{"2GB, 1h", &Limits{time.Hour, 2e9}, false},
		{"never", nil, false},
		{"0", nil, false},
		{"much", nil, true},
		{"-1h", nil, true},
		{"1h,", nil, true},
	} {
		got, err := ParseLimits(c.above)
		if (err != nil) != c.err || (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%q: %+v, %v", c.above, got, err)
		}
	}
}

func TestExceeded(t *testing.T) {
	l := Limits{time.Hour, 1000}
	for _, c := range []struct {
		e    Estimate
		want bool
	}{
		{Estimate{Cost: Cost{Steps: 9, P50: 3600}}, false},
		{Estimate{Cost: Cost{Steps: 9, P50: 3601}}, true},
		{Estimate{Cost: Cost{Steps: 9, Download: 1001, Sources: 1}}, true},
		{Estimate{Cost: Cost{Steps: 400, Unknown: 400}}, false}, // of a small corpus that is generated, as far as anybody knows
		{Estimate{Cost: Cost{Steps: 400, Unknown: 400, Sources: 1, Unfetched: 1}}, true},
		{Estimate{Cost: Cost{Steps: 4, Unknown: 4, Sources: 1, Unfetched: 1}}, false},
	} {
		if l.Exceeded(&c.e) != c.want {
			t.Errorf("%+v: not %v", c.e, c.want)
		}
	}
}

// TestFarOff: a request is told where the step, or its block, took more or less than a quarter; a small one is not.
func TestFarOff(t *testing.T) {
	v := preview(
		stepOf{address: "step.a.hit", kind: "a", outcome: plan.Hit},
		stepOf{address: "step.a.less", kind: "a", outcome: plan.Run},
		stepOf{address: "step.a.near", kind: "a", outcome: plan.Run},
		stepOf{address: "step.a.kind", kind: "a", outcome: plan.Run},
		stepOf{address: `step.b.of["x"]`, kind: "b", outcome: plan.Hit},
		stepOf{address: `step.b.of["y"]`, kind: "b", outcome: plan.Run},
		stepOf{address: "step.a.small", kind: "a", outcome: plan.Hit},
		stepOf{address: "step.a.none", kind: "a", outcome: plan.Hit},
		stepOf{address: "step.c.unknown", kind: "c", outcome: plan.Run},
	)
	for i, asked := range map[int]int64{0: 4e9, 1: 5e9, 2: 5e9, 3: 1e9, 4: 1e9, 5: 1e9, 6: 1e6, 8: 1e9} {
		v.Plan.Steps[i].Resources = &step.Resources{Memory: asked, At: "p.hcl:7"}
	}
	v.Items[0].Memory, v.Items[4].Memory, v.Items[6].Memory, v.Items[7].Memory = 6e9, 2e9, 1e3, 9e9
	e := Of(v, History{Samples: map[int][]Sample{1: {{Memory: 1e9}}, 2: {{Memory: 4e9}}}})
	want := map[int]string{
		0: "asks for 4.0 GB and took 6.0 GB at most (p.hcl:7)",
		1: "asks for 5.0 GB and took 1.0 GB at most (p.hcl:7)",
		4: "asks for 1.0 GB and took 2.0 GB at most (p.hcl:7)",
		5: "asks for 1.0 GB and took 2.0 GB at most (p.hcl:7)",
	}
	if d := cmp.Diff(want, e.FarOff(v)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
