package hours

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// The kinds of these tests say what they compute as those of models do.
type from struct {
	From step.Input `hcl:"from,optional" help:"what it reads"`
	IDs  step.Input `hcl:"ids,optional" help:"identifiers"`
	N    int        `hcl:"n,optional" help:"a number"`
}

func kind(name string, queue step.Queue, work func(from) step.Work) step.Spec {
	return step.Define(step.Kind[from]{Name: name, Version: 1, Doc: name, Queue: queue, Work: work,
		Outputs: []step.Output{{Name: "out", Type: "t", Help: "h"}},
		Run:     func(context.Context, *step.IO, from) error { return nil }})
}

func trains(c from, recomputes bool) step.Work {
	return step.Work{Model: &step.FutureModel{Like: c.From}, Trains: &step.Training{Model: c.From, Identifiers: c.IDs, Corpus: c.IDs, Queries: c.IDs, Updates: c.N, Batch: 128,
		Optimizer: "adafactor", Precision: "fp16", MaxDocument: 32, MaxQuery: 64, Documents: -1, Recomputes: recomputes}}
}

func registry() *step.Registry {
	return step.NewRegistry(
		kind("weights", step.CPU, func(c from) step.Work {
			return step.Work{Model: &step.FutureModel{Repository: map[int]string{0: "google-t5/t5-base", 1: "nobody/knows"}[c.N]}}
		}),
		kind("collection", step.CPU, func(c from) step.Work {
			return step.Work{Collection: &step.FutureCollection{Documents: int64(c.N), TrainQueries: int64(3 * c.N), DevQueries: 100}}
		}),
		kind("atomic", step.CPU, func(c from) step.Work {
			return step.Work{Identifiers: &step.FutureIdentifiers{Documents: c.From, OneToken: true, Tokens: 1}}
		}),
		kind("train", step.GPU, func(c from) step.Work { return trains(c, false) }),
		kind("train_again", step.GPU, func(c from) step.Work { return trains(c, true) }),
		kind("ask", step.GPU, func(c from) step.Work {
			return step.Work{Searches: &step.Searching{Model: c.From, Identifiers: c.IDs, Queries: c.IDs, Split: "dev", Times: 1, Beams: 40, Batch: 32, Part: 50, Precision: "fp32"}}
		}),
		kind("program", step.GPU, nil),
		kind("other", step.CPU, nil),
	)
}

type made struct {
	address, kind string
	from, ids     string
	n             int
	hit           bool
}

func preview(t testing.TB, reg *step.Registry, steps ...made) *plan.Preview {
	t.Helper()
	v := &plan.Preview{Plan: &plan.Plan{}}
	at := map[string]int{}
	for i, s := range steps {
		at[s.address] = i
		config := map[string]any{"n": s.n}
		out := plan.Step{Address: s.address, Queue: string(reg.Lookup(s.kind).Queue)}
		for name, of := range map[string]string{"from": s.from, "ids": s.ids} {
			if of != "" {
				config[name] = step.Input{Ref: &step.Ref{Step: of, Output: "out"}}
				out.Deps = append(out.Deps, at[of])
			}
		}
		text, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		out.Task = step.Task{Kind: s.kind, Config: text}
		v.Plan.Steps = append(v.Plan.Steps, out)
		outcome := plan.Run
		if s.hit {
			outcome = plan.Hit
		}
		v.Items = append(v.Items, plan.Item{Outcome: outcome})
	}
	return v
}

func options(t testing.TB, card string, cards int) Options {
	t.Helper()
	c, err := roofline.CardNamed(card)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Card: c, Cards: cards, Price: 2}
}

func of(t *testing.T, v *plan.Preview, facts Facts, o Options) *Hours {
	t.Helper()
	if facts.Took == nil {
		facts.Took = func(int) []Took { return nil }
	}
	h, err := Of(v, registry(), estimate.Of(v, estimate.History{}), facts, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func steps(n int) []made {
	return []made{
		{address: "step.weights.base", kind: "weights"},
		{address: "step.collection.c", kind: "collection", n: 1000},
		{address: "step.atomic.ids", kind: "atomic", from: "step.collection.c"},
		{address: "step.train.a", kind: "train", from: "step.weights.base", ids: "step.atomic.ids", n: n},
		{address: "step.ask.a", kind: "ask", from: "step.train.a", ids: "step.atomic.ids"},
		{address: "step.program.p", kind: "program"},
		{address: "step.other.o", kind: "other"},
	}
}

// TestComputed: what has no history is computed, twice as many updates take twice as long, a
// better card takes less, and what cannot be computed is unknown, with the reason.
func TestComputed(t *testing.T) {
	reg := registry()
	one := of(t, preview(t, reg, steps(1000)...), Facts{}, options(t, "a100", 1))
	two := of(t, preview(t, reg, steps(2000)...), Facts{}, options(t, "a100", 1))
	fast := of(t, preview(t, reg, steps(1000)...), Facts{}, options(t, "h100", 1))
	if one.ByBasis[estimate.Computed] != 2 || one.GPUUnknown != 1 || one.Unknown != 5 || len(one.Why) != 1 || !strings.Contains(one.Why[5], "does not say") {
		t.Errorf("%+v", one)
	}
	started := startSeconds * time.Second
	if a, b := one.Each[3].P50-started, two.Each[3].P50-started; math.Abs(float64(b)/float64(a)-2) > 1e-6 {
		t.Errorf("1,000 updates take %s, 2,000 %s", a, b)
	}
	if fast.GPUP50 >= one.GPUP50 || one.GPUP50 <= 0 {
		t.Errorf("%s on the better card, %s on the other", fast.GPUP50, one.GPUP50)
	}
	if want := 2 * one.GPUP50.Hours(); math.Abs(one.Cost()-want) > 1e-9 {
		t.Errorf("cost %f, want %f", one.Cost(), want)
	}
	if len(one.Assumed) == 0 || strings.Contains(strings.Join(one.Assumed, "\n"), "109739") {
		t.Errorf("the collection says how large it is: %q", one.Assumed)
	}
	if got := sum(one.Spent); (got - one.GPUP50).Abs() > time.Millisecond {
		t.Errorf("%v are %s, want %s", one.Spent, got, one.GPUP50)
	}
	for n, x := range one.Spent[1:] {
		if x.Took > one.Spent[n].Took || x.Took <= 0 {
			t.Errorf("%v", one.Spent)
		}
	}
	// Two parts of 50 queries load the model twice.
	if one.Each[4].P50 < 2*started {
		t.Errorf("the search takes %s", one.Each[4].P50)
	}
}

func sum(all []Spent) (took time.Duration) {
	for _, x := range all {
		took += x.Took
	}
	return took
}

// TestReplayed: trainings replay graphs, and those that compute activations twice do not,
// which the host has to prepare operation by operation.
func TestReplayed(t *testing.T) {
	card := options(t, "h200", 1).Card
	host := func(recomputes bool) (replays, host float64) {
		list := steps(1000)
		if recomputes {
			list[3].kind = "train_again"
		}
		v := preview(t, registry(), list...)
		j, why, err := newResolver(v, registry(), Facts{}).job(3)
		if why != "" || err != nil {
			t.Fatal(why, err)
		}
		return j.parts[0].work.Replays, j.parts[0].work.On(card, roofline.Assumed()).Host
	}
	replays, replayed := host(false)
	none, launched := host(true)
	if replays != 1 || none != 0 || replayed > launched/5 {
		t.Errorf("%g replays take the host %g s, %g take %g s", replays, replayed, none, launched)
	}
	h := of(t, preview(t, registry(), steps(1000)...), Facts{}, options(t, "h200", 1))
	if text := strings.Join(h.Assumed, "\n"); !strings.Contains(text, "trainings replay CUDA graphs in 99 % of their updates") || !strings.Contains(text, "a replay 25 µs of the host") {
		t.Error(text)
	}
}

// TestUnknownModel: hours of a model of unknown sizes are unknown until its config.json is there.
func TestUnknownModel(t *testing.T) {
	list := steps(1000)
	list[0].n = 1
	v := preview(t, registry(), list...)
	h := of(t, v, Facts{}, options(t, "h100", 1))
	if h.GPUUnknown != 3 || h.Why[3] != "the sizes of the model of step.weights.base are not known until it exists" {
		t.Errorf("%d, %v", h.GPUUnknown, h.Why)
	}
	v.Items[0].Outcome = plan.Hit
	h = of(t, v, Facts{File: func(i int, output, name string) ([]byte, error) {
		if i == 0 && output == "out" && name == "config.json" {
			return []byte(`{"model_type":"t5","num_layers":2,"d_model":64,"num_heads":1}`), nil
		}
		return nil, nil
	}}, options(t, "h100", 1))
	if h.GPUUnknown != 1 || h.Each[3].P50 == 0 {
		t.Errorf("%d, %v", h.GPUUnknown, h.Why)
	}
}

// TestPaperSizes: where nothing says how large a collection is, it is the paper's, and that
// is said.
func TestPaperSizes(t *testing.T) {
	list := steps(1000)
	list[1] = made{address: "step.collection.c", kind: "other"}
	h := of(t, preview(t, registry(), list...), Facts{}, options(t, "h100", 1))
	if text := strings.Join(h.Assumed, "\n"); !strings.Contains(text, "109739 documents") {
		t.Error(text)
	}
	counts := map[string]int64{"documents": 7, "records.train": 21, "records.dev": 3}
	v := preview(t, registry(), list...)
	v.Items[1].Outcome, v.Items[2].Outcome = plan.Hit, plan.Hit
	h = of(t, v, Facts{Counts: func(i int) map[string]int64 { return counts }}, options(t, "h100", 1))
	if text := strings.Join(h.Assumed, "\n"); strings.Contains(text, "109739") {
		t.Error(text)
	}
}

// TestMeasured: what a step took on such a card counts before what is computed, what others
// of its kind took scales it, and other cards do not count as history.
func TestMeasured(t *testing.T) {
	list := append(steps(1000), made{address: "step.train.b", kind: "train", from: "step.weights.base", ids: "step.atomic.ids", n: 5000, hit: true})
	v := preview(t, registry(), list...)
	o := options(t, "h100", 1)
	computed := of(t, v, Facts{}, o)
	took := func(card string, at map[int]time.Duration) func(int) []Took {
		return func(i int) []Took {
			if d, ok := at[i]; ok {
				return []Took{{card, d}}
			}
			return nil
		}
	}
	h := of(t, v, Facts{Took: took("NVIDIA H100 80GB HBM3", map[int]time.Duration{3: time.Hour})}, o)
	if h.Each[3].P50 != time.Hour || h.Each[3].Basis != estimate.Itself || h.ByBasis[estimate.Computed] != 1 {
		t.Errorf("measured: %+v", h.Each[3])
	}
	r := newResolver(v, registry(), Facts{})
	j, why, err := r.job(7)
	if why != "" || err != nil {
		t.Fatal(why, err)
	}
	alone, _ := j.on(o.Card)
	h = of(t, v, Facts{Took: took("NVIDIA H100 80GB HBM3", map[int]time.Duration{7: 3 * alone})}, o)
	if got, want := sum(h.Spent), h.Each[3].P50+h.Each[4].P50; (got - want).Abs() > time.Millisecond {
		t.Errorf("scaled: %v are %s, want %s", h.Spent, got, want)
	}
	if x := h.Each[3]; x.Basis != estimate.Scaled || math.Abs(float64(x.P50)/float64(computed.Each[3].P50)-3) > 1e-3 {
		t.Errorf("scaled: %+v, computed %s", x, computed.Each[3].P50)
	}
	h = of(t, v, Facts{Took: took("Tesla T4", map[int]time.Duration{3: time.Hour, 7: time.Hour})}, o)
	if h.Each[3] != computed.Each[3] {
		t.Errorf("another card's: %+v", h.Each[3])
	}
}

// TestTooLarge: a training that does not fit is named with what to change.
func TestTooLarge(t *testing.T) {
	list := steps(1000)
	list[1].n = 3_000_000
	h := of(t, preview(t, registry(), list...), Facts{}, options(t, "t4", 1))
	if len(h.TooLarge) != 1 || h.TooLarge[0].Step != 3 || h.TooLarge[0].Needs <= h.TooLarge[0].Room {
		t.Errorf("%+v", h.TooLarge)
	}
}

// TestSchedule: steps share cards, the longest chain goes first, and what comes after a step
// waits for it.
func TestSchedule(t *testing.T) {
	v := &plan.Preview{Plan: &plan.Plan{}}
	var each []estimate.Step
	add := func(queue string, seconds int, deps ...int) {
		v.Plan.Steps = append(v.Plan.Steps, plan.Step{Queue: queue, Deps: deps})
		v.Items = append(v.Items, plan.Item{Outcome: plan.Run})
		each = append(each, estimate.Step{P50: time.Duration(seconds) * time.Second})
	}
	add("gpu", 1)    // 0
	add("gpu", 1)    // 1
	add("gpu", 3)    // 2, before 3
	add("cpu", 2, 2) // 3
	add("gpu", 4, 3) // 4
	for cards, want := range map[int]int{1: 3 + 2 + 4, 2: 9, 9: 9} {
		if got := schedule(v, each, cards); got != time.Duration(want)*time.Second {
			t.Errorf("%d cards: %s, want %d s", cards, got, want)
		}
	}
	v.Items[2].Outcome = plan.Hit // 0, 1 beside 3 and 4
	if got := schedule(v, each, 1); got != 6*time.Second {
		t.Errorf("after a hit: %s", got)
	}
	if got := schedule(&plan.Preview{Plan: &plan.Plan{}}, nil, 1); got != 0 {
		t.Errorf("of nothing: %s", got)
	}
}

// BenchmarkOf50000 is of as many trainings.
func BenchmarkOf50000(b *testing.B) {
	list := steps(1000)[:3]
	for i := range 50_000 {
		list = append(list, made{address: "step.train.a" + strconv.Itoa(i), kind: "train", from: "step.weights.base", ids: "step.atomic.ids", n: 1000 + i})
	}
	reg := registry()
	v := preview(b, reg, list...)
	e := estimate.Of(v, estimate.History{})
	o := options(b, "h200", 8)
	for b.Loop() {
		if _, err := Of(v, reg, e, Facts{Took: func(int) []Took { return nil }}, o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSchedule50000(b *testing.B) {
	v := &plan.Preview{Plan: &plan.Plan{}}
	var each []estimate.Step
	for i := range 50_000 {
		s := plan.Step{Queue: "gpu"}
		if i > 100 {
			s.Deps = []int{i - 100}
		}
		v.Plan.Steps = append(v.Plan.Steps, s)
		v.Items = append(v.Items, plan.Item{Outcome: plan.Run})
		each = append(each, estimate.Step{P50: time.Duration(i%97) * time.Second})
	}
	for b.Loop() {
		schedule(v, each, 8)
	}
}
