package estimate

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

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
	errtest.None(t, err)
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

// TestRated: rates come after results of the step and its block, and before those of its kind; sums end somewhere.
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
	// Of a training that made a tenth of the updates, ten times its time; of one that says none, nothing.
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
