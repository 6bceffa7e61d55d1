package estimate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
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
	testkit.Deep(t, e.Each, want)
	e.Each = nil
	sum := &Estimate{Cost: Cost{Steps: 4, Unknown: 1, P50: 15, P90: 27, GPU: 10. / 3600, Bytes: 269, Download: 99, Sources: 2},
		GPUSteps: 2, CriticalPath: []int{1, 2}, Critical: 10, Memory: 9000, MemoryOf: 1, MemoryUnknown: 1}
	testkit.Deep(t, e, sum)
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
	testkit.Deep(t, blocks, want)
	testkit.Deep(t, of, []int{0, 1, 1, 3, 2, 3})
	tables := []Group{
		{Name: "table.a", Resume: 1, Maybe: 2, Hit: 1, Saved: 7, Cost: Cost{Steps: 3, Unknown: 1, P50: 5, P90: 5, GPU: 3. / 3600, Bytes: 50, Unsized: 1}, Shared: 1, SharedP50: 2},
		{Name: "table.b", Resume: 1, Maybe: 1, Cost: Cost{Steps: 2, Unknown: 1, P50: 2, P90: 2, Bytes: 20, Unsized: 1}, Shared: 1, SharedP50: 2},
		{Run: 1, Cost: Cost{Steps: 1, Unknown: 1, Unsized: 1}},
	}
	testkit.Deep(t, e.Tables(v), tables)
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
	testkit.Is(t, len(groups), 150, "groups")
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
		testkit.Is(t, l.Exceeded(&c.e), c.want, c.e)
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
	testkit.Deep(t, e.FarOff(v), want)
}

// priced is a step whose kind says the work that its test gives it.
type priced struct {
	From   step.Inputs `hcl:"from,optional" help:"what it reads"`
	Device string      `hcl:"device,optional" help:"where"`
}

// pricedPlan is a plan of steps of these works, each read by those after it as it names them.
type pricedPlan struct {
	*plan.Preview
	kinds []step.Spec
}

func in(address string) step.Input { return step.Input{Ref: &step.Ref{Step: address, Output: "out"}} }

func (p *pricedPlan) add(t *testing.T, address, device string, w step.Work, deps ...int) int {
	t.Helper()
	kind := strings.ReplaceAll(address, ".", "_")
	p.kinds = append(p.kinds, step.Define(step.Kind[priced]{Name: kind, Version: 1, Doc: kind, Work: func(priced) step.Work { return w },
		Outputs: []step.Output{{Name: "out", Type: "t", Help: "h"}}, Run: func(context.Context, *step.IO, priced) error { return nil }}))
	config, err := json.Marshal(map[string]any{"device": device})
	testkit.None(t, err)
	p.Plan.Steps = append(p.Plan.Steps, plan.Step{Address: address, Task: step.Task{Kind: kind, Config: config}, Deps: deps})
	p.Items = append(p.Items, plan.Item{Outcome: plan.Run})
	return len(p.Items) - 1
}

// TestPrice: work is priced by the rates of its device; amounts are declared or counted; what has no rate says why.
func TestPrice(t *testing.T) {
	cpu := rates.Rates{Device: "A processor, 2 cores", Rates: []rates.Rate{
		{Unit: step.GzipBytes, PerSecond: 1e6},
		{Unit: step.Updates, Shape: "t5-small", PerSecond: 2, Memory: 5e9},
		{Unit: step.Updates, Shape: "t5-small", Identifiers: "atomic", Documents: 1, PerSecond: 4, Memory: 5e9},
		{Unit: step.Updates, Shape: "t5-small", Identifiers: "atomic", Documents: 199_999, PerSecond: 1, Memory: 7e9},
		{Unit: step.Searches, Shape: "t5-small", PerSecond: 10},
		{Unit: step.Rankings, Shape: "t5-small", Documents: 1, PerSecond: 200},
		{Unit: step.Rankings, Shape: "t5-small", Documents: 199_999, PerSecond: 200. / 3},
	}}
	card := cpu
	card.Device, card.Card = "A card", true
	card.Rates = []rates.Rate{{Unit: step.Updates, Shape: "t5-small", PerSecond: 200, Memory: 4e9}}

	p := &pricedPlan{Preview: &plan.Preview{Plan: &plan.Plan{}}}
	counts := func(name string, a step.Amount) map[string]step.Amount { return map[string]step.Amount{name: a} }
	files := p.add(t, "s.files", "", step.Work{Shape: "t5-small", Counts: counts(step.BytesCount, step.Exactly(140e6))})
	of := step.Inputs{in("s.files")}
	records := p.add(t, "s.extract", "", step.Work{Does: []step.Doing{{Unit: step.GzipBytes, Amount: step.Amount{Times: 1, Of: of, Count: step.BytesCount}}},
		Counts: counts("documents", step.Amount{Times: 1 / 1000., Of: of, Count: step.BytesCount, AtMost: 100_000})}, files)
	naive := p.add(t, "s.naive", "", step.Work{Identifiers: "naive"}, records)
	atomic := p.add(t, "s.atomic", "", step.Work{Identifiers: "atomic"}, records)
	does := func(ids string, model string) step.Work {
		return step.Work{Like: in(model), Does: []step.Doing{
			{Unit: step.Updates, Amount: step.Exactly(1000), Model: in(model), Identifiers: in(ids)},
			{Unit: step.Searches, Amount: step.Amount{Times: 0.01, Of: step.Inputs{in(ids)}, Count: "documents"}, Model: in(model), Identifiers: in(ids), Evaluates: true}}}
	}
	one := p.add(t, "s.train", "", does("s.naive", "s.files"), naive, files)
	two := p.add(t, "s.onward", "cpu", does("s.naive", "s.train"), one, naive)
	three := p.add(t, "s.train_atomic", "", does("s.atomic", "s.files"), atomic, files)
	unknown := p.add(t, "s.train_other", "", does("s.naive", "s.extract"), naive)
	silent := p.add(t, "s.silent", "", step.Work{})

	price := func(o Pricing) map[int]Priced {
		o.Registry = step.NewRegistry(p.kinds...)
		return o.Price(p.Preview, map[int]Download{files: {Sources: 1, Bytes: 1e6}}) // the others are there
	}
	check := func(got map[int]Priced, i int, seconds float64, why string) {
		t.Helper()
		if x := got[i]; math.Abs(x.Took.Seconds()-seconds) > 1e-6 || !strings.Contains(x.Why, why) || (why == "") != (x.Why == "") {
			t.Errorf("%s: %s, %q; want %g s, %q", p.Plan.Steps[i].Address, x.Took, x.Why, seconds, why)
		}
	}
	here := price(Pricing{CPU: &cpu})
	check(here, files, 0, "")
	check(here, records, 140, "")
	check(here, one, 500+100, "")
	check(here, two, 500+100, "")
	check(here, three, 1000*(0.25+1)/2+1000/100., "")
	check(here, unknown, 0, "models of the sizes of its model are not measured")
	check(here, silent, 0, "")
	small := float64(rates.Shapes()[2].Bytes())
	if x := here[one]; x.Bytes != int64(small) || x.Memory != 5e9 || x.By != &cpu || math.Abs(float64(here[three].Memory)-6e9) > 1e5 || here[three].Bytes != int64(small+4*512*100_000) || here[files].Bytes != 140e6 || here[silent].Bytes != -1 {
		t.Errorf("%+v, %+v", x, here[three])
	}
	for why, got := range map[string]map[int]Priced{
		"not measured: run redsi doctor --rates":              price(Pricing{}),
		"the rates of A card have no searches of t5-small":    price(Pricing{CPU: &cpu, Card: &card, HasCard: true}),
		"the device was not measured":                         price(Pricing{CPU: &cpu, HasCard: true}),
		"the rates of V100 paper have no updates of t5-small": price(Pricing{CPU: &cpu, On: new(rates.V100())}),
	} {
		check(got, one, 0, why)
	}
	check(price(Pricing{CPU: &cpu, Card: &card, HasCard: true}), two, 600, "") // it asks for the processors
	card.Rates = append(card.Rates, rates.Rate{Unit: step.Searches, Shape: "t5-small", PerSecond: 10}, rates.Rate{Unit: step.Searches.InTraining(), Shape: "t5-small", PerSecond: 20})
	check(price(Pricing{CPU: &cpu, Card: &card, HasCard: true}), one, 5+50, "")

	// What is there counts before what is said.
	p.Items[records] = plan.Item{Outcome: plan.Hit, Bytes: 7}
	check(price(Pricing{CPU: &cpu, Counts: func(i int) map[string]int64 { return map[string]int64{"documents": 1000} }}), one, 501, "")

	// The paper's updates have evaluations in them.
	base := p.add(t, "s.base", "", step.Work{Shape: "t5-base"})
	naiveBase := p.add(t, "s.train_base", "", does("s.naive", "s.base"), base, naive)
	check(price(Pricing{On: new(rates.V100())}), naiveBase, 74.5*3600/900, "")
}

// TestRated: rates come after results of the step and its block, and before its kind's results; sums end somewhere.
func TestRated(t *testing.T) {
	v := preview(
		stepOf{address: `step.train.a["1"]`, kind: "train", outcome: plan.Hit, took: 5},
		stepOf{address: `step.train.a["2"]`, kind: "train", outcome: plan.Run},
		stepOf{address: `step.train.b`, kind: "train", outcome: plan.Run},
		stepOf{address: `step.train.c`, kind: "train", outcome: plan.Run},
		stepOf{address: `step.train.d`, kind: "train", outcome: plan.Run},
	)
	p := Priced{Took: time.Hour, Memory: 3, Bytes: 4, Model: true}
	h := History{Priced: map[int]Priced{1: p, 2: p, 3: p, 4: {Bytes: -1, Model: true, Why: "no rates"}}, Samples: map[int][]Sample{3: took(7)}}
	bases := func(e *Estimate) []Basis { return lists.Map(e.Each[1:], func(x Step) Basis { return x.Basis }) }
	e := Of(v, h)
	if got := bases(e); got[0] != Block || got[1] != Rates || got[2] != Itself || got[3] != Kind {
		t.Error(got)
	}
	if x := e.Each[2]; x.P50 != time.Hour || x.Memory != 3 || x.Bytes != 4 || x.MemoryBasis != Rates || e.Each[4].Why != "" {
		t.Errorf("%+v", x)
	}
	// A training with a tenth of the updates counts ten times its time; a training that says none does not count.
	longer := h.Priced[3]
	longer.Updates = 1000
	h.Priced[3], h.Samples[3] = longer, []Sample{{Took: 7 * time.Second, Updates: 100}, {Took: time.Hour}}
	if x := Of(v, h).Each[3]; x.Basis != Itself || x.P50 != 70*time.Second {
		t.Errorf("%+v", x)
	}
	// Results of less than a quarter of the data say nothing where there are rates.
	grown := p
	grown.Bytes = 4 * 5000
	h.Priced[1] = grown
	if x := Of(v, h).Each[1]; x.Basis != Block || x.Bytes != 5000 {
		t.Errorf("%+v", x)
	}
	grown.Bytes++
	h.Priced[1] = grown
	if x := Of(v, h).Each[1]; x.Basis != Rates || x.P50 != time.Hour || x.Bytes != grown.Bytes {
		t.Errorf("%+v", x)
	}
	h.Priced[1] = p
	h.OnRates = true
	e = Of(v, h)
	if got := bases(e); got[0] != Rates || got[1] != Rates || got[2] != Rates || got[3] != Nothing || e.Each[4].Why != "no rates" {
		t.Error(got)
	}
	p.Took = math.MaxInt64
	h.Priced[1], h.Priced[2] = p, p
	if e = Of(v, h); e.P50 < 2*p.Took.Seconds() || e.Wall(1, 1) != e.P50 {
		t.Error(e.P50)
	}
}
