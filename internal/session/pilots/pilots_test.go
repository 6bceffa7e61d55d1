package pilots

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

func pilot(name string, cpus int, gigabytes int64, gpus int, d time.Duration, most int) slurm.Pilot {
	return slurm.Pilot{Name: name, Has: capacity.Amount{CPUs: cpus, Memory: gigabytes * 1e9, GPUs: gpus}, Time: d, Max: most, Idle: 5 * time.Minute, At: "s:" + name}
}

// site has its pilots in no order.
func site() *slurm.Site {
	return &slurm.Site{Max: 20, Pilots: []slurm.Pilot{
		pilot("gpu", 8, 64, 1, 12*time.Hour, 4), pilot("big", 16, 128, 0, 4*time.Hour, 4), pilot("cpu", 8, 32, 0, 4*time.Hour, 16)}}
}

const gpuSort, bigSort, cpuSort = 0, 1, 2

func of(cpus int, took time.Duration) Step {
	return Step{Address: "step.c.x", At: "p:9", Asks: capacity.Amount{CPUs: cpus}, Took: took, Surely: true}
}

func memory(gigabytes int64) Step {
	return Step{Address: "step.c.x", At: "p:9", Asks: capacity.Amount{CPUs: 1, Memory: gigabytes * 1e9}}
}

// TestHolds: a step has the smallest pilot that holds it, or both lines of the one that lacks least.
func TestHolds(t *testing.T) {
	card := Step{Address: "step.train.x", At: "p:9", Card: true}
	cards := func(n int) Step { return Step{Address: "step.c.x", At: "p:9", Asks: capacity.Amount{CPUs: 1, GPUs: n}} }
	long, resumed, guessed, limited := of(1, 5*time.Hour), of(1, 50*time.Hour), of(1, 5*time.Hour), of(1, 5*time.Hour)
	resumed.Resumes, guessed.Surely, limited.Limit = true, false, time.Hour
	asked := of(1, 0)
	asked.Surely, asked.Limit = false, 13*time.Hour
	both := of(9, 20*time.Hour)
	noCards := &slurm.Site{Max: 20, Pilots: site().Pilots[1:]}
	for name, c := range map[string]struct {
		site *slurm.Site
		step Step
		want string // a pilot, or why there is none
	}{
		"anything":                         {site(), of(1, 0), "cpu"},
		"all of a pilot":                   {site(), memory(32), "cpu"},
		"more processors":                  {site(), of(9, 0), "big"},
		"more memory":                      {site(), memory(33), "big"},
		"on the queue for cards":           {site(), card, "gpu"},
		"cards for a program":              {site(), cards(1), "gpu"},
		"too long for the smaller":         {site(), long, "gpu"},
		"until its limit":                  {site(), limited, "cpu"},
		"to the minute":                    {site(), of(1, 4*time.Hour-2*time.Minute), "cpu"},
		"from checkpoints":                 {site(), resumed, "cpu"},
		"as long as others of its kind":    {site(), guessed, "cpu"},
		"too much":                         {site(), memory(256), "step.c.x asks for 256 GB of memory, and pilot big (s:big) has 128 GB (p:9)"},
		"too many cards":                   {site(), cards(2), "step.c.x asks for 2 cards, and pilot gpu (s:gpu) has 1 card (p:9)"},
		"it may take too long":             {site(), asked, "step.c.x may take 13 h 0 min, and pilot gpu (s:gpu) has 11 h 58 min for a step (p:9)"},
		"too long, and wide":               {site(), both, "step.c.x asks for 9 cpus, and pilot gpu (s:gpu) has 8 cpus; it takes 20 h 0 min, and pilot gpu (s:gpu) has 11 h 58 min for a step (p:9)"},
		"no cards: on processors":          {noCards, card, "cpu"},
		"no cards: a program that asks so": {noCards, cards(1), "step.c.x asks for 1 card, and pilot big (s:big) has 0 cards (p:9)"},
	} {
		got := ""
		if i, why := Holds(c.site, c.step); i >= 0 {
			got = c.site.Pilots[i].Name
		} else {
			got = why
		}
		testkit.Is(t, got, c.want, name)
	}
}

// TestOf: a step asks for a processor at least, or its queue's card; only its own and its block's results are sure.
func TestOf(t *testing.T) {
	asks := &step.Resources{CPUs: 2, Memory: 3, GPUs: 1, Time: time.Hour, At: "p:99"}
	model, resumes, splits := &step.Spec{}, &step.Spec{}, &step.Spec{}
	model.Needs, resumes.Resumes = step.Libtorch, true
	splits.Kind.Split = func(context.Context, *step.IO, any) ([]step.Task, error) { return nil, nil }
	hour := estimate.Step{Basis: estimate.Block, P50: time.Minute, P90: time.Hour}
	guess := estimate.Step{Basis: estimate.Kind, P90: time.Hour}
	pos := pipeline.Pos{File: "p", Line: 5}
	for name, c := range map[string]struct {
		step plan.Step
		cost estimate.Step
		spec *step.Spec
		want Step
	}{
		"nothing":     {plan.Step{Pos: pos, Queue: "cpu"}, estimate.Step{}, &step.Spec{}, Step{At: "p:5", Asks: capacity.Amount{CPUs: 1}}},
		"a program":   {plan.Step{Pos: pos, Queue: "gpu", Resources: asks}, hour, nil, Step{At: "p:99", Asks: capacity.Amount{CPUs: 2, Memory: 3, GPUs: 1}, Card: true, Took: time.Hour, Surely: true, Limit: time.Hour}},
		"a model":     {plan.Step{Pos: pos, Queue: "gpu", Resources: asks}, guess, model, Step{At: "p:99", Asks: capacity.Amount{CPUs: 2, Memory: 3}, Card: true, Took: time.Hour, Limit: time.Hour}},
		"checkpoints": {plan.Step{Pos: pos, Queue: "gpu"}, estimate.Step{}, resumes, Step{At: "p:5", Card: true, Resumes: true}},
		"parts":       {plan.Step{Pos: pos}, estimate.Step{}, splits, Step{At: "p:5", Asks: capacity.Amount{CPUs: 1}, Resumes: true}},
	} {
		testkit.Is(t, Of(&c.step, c.cost, c.spec), c.want, name)
	}
}

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func many(n int, s Step) []Step { return slices.Repeat([]Step{s}, n) }

func queued(sort int, state slurm.State, n int) (all []Pilot) {
	for i := range n {
		x := Pilot{Queued: slurm.Queued{ID: fmt.Sprint(sort, state, i), State: state}, Sort: sort}
		if state == slurm.Running {
			x.Ends = now.Add(3 * time.Hour)
		}
		all = append(all, x)
	}
	return all
}

func ending(all []Pilot, left time.Duration) []Pilot {
	for i := range all {
		all[i].Ends = now.Add(left)
	}
	return all
}

// TestNext: what is submitted for what is ready, beside the pilots that there are.
func TestNext(t *testing.T) {
	hour, second := of(1, time.Hour), of(1, time.Second)
	card := Step{Card: true, Took: time.Hour}
	few, soon := site(), site()
	few.Max, soon.Pilots[cpuSort].Idle = 3, 10*time.Second
	noCards := &slurm.Site{Max: 20, Pilots: site().Pilots[2:]}
	none, pending, running := []Pilot(nil), slurm.Pending, slurm.Running
	for name, c := range map[string]struct {
		site         *slurm.Site
		ready, begun []Step
		pilots       []Pilot
		want         string // N of a sort
	}{
		"nothing to do":                       {site(), nil, nil, none, "0"},
		"nothing new":                         {site(), nil, many(64, hour), none, "0"},
		"as many as there is room for":        {site(), many(20, hour), nil, none, "3 cpu"},
		"no more than may pend":               {site(), many(800, hour), nil, none, "4 cpu"},
		"that pend already":                   {site(), many(800, hour), nil, queued(cpuSort, pending, 3), "1 cpu"},
		"and those that run beside":           {site(), many(800, hour), nil, queued(cpuSort, running, 10), "4 cpu"},
		"up to its most":                      {site(), many(800, hour), nil, queued(cpuSort, running, 15), "1 cpu"},
		"up to the site's":                    {few, many(800, hour), nil, queued(gpuSort, running, 1), "2 cpu"},
		"it is all there":                     {site(), many(20, hour), nil, slices.Concat(queued(cpuSort, running, 2), queued(cpuSort, pending, 1)), "0"},
		"no pilot for seconds":                {site(), many(192, second), many(8, second), queued(cpuSort, running, 1), "0"},
		"one for seconds":                     {site(), many(192, second), nil, none, "1 cpu"},
		"twice what they may be idle, each":   {soon, many(192, second), nil, none, "2 cpu"},
		"ten minutes of work each":            {site(), many(200, of(1, 3*time.Minute)), many(8, second), queued(cpuSort, running, 6), "2 cpu"},
		"nobody knows how long":               {site(), many(24, of(1, 0)), nil, none, "3 cpu"},
		"full pilots":                         {site(), many(1, second), many(16, hour), queued(cpuSort, running, 2), "1 cpu"},
		"room in full pilots' neighbours":     {site(), many(1, second), many(12, hour), queued(cpuSort, running, 2), "0"},
		"wide steps have pilots of their own": {site(), many(3, of(5, hour.Took)), nil, none, "3 cpu"},
		"narrow ones beside them":             {site(), slices.Concat(many(9, hour), many(3, of(5, hour.Took))), nil, none, "3 cpu"},
		"pilots that end begin nothing":       {site(), many(8, hour), nil, ending(queued(cpuSort, running, 1), 50*time.Minute), "1 cpu"},
		"but what is shorter":                 {site(), many(8, of(1, 40*time.Minute)), nil, ending(queued(cpuSort, running, 1), 50*time.Minute), "0"},
		"what they do is theirs":              {site(), many(8, hour), many(8, hour), ending(queued(cpuSort, running, 1), 50*time.Minute), "1 cpu"},
		"the sort that lacks most, before":    {site(), slices.Concat(many(4, card), many(8, hour)), nil, none, "4 gpu"},
		"other sorts are no help":             {site(), many(2, card), nil, queued(cpuSort, running, 8), "2 gpu"},
		"the sort that lacks most":            {site(), slices.Concat(many(2, card), many(32, hour)), nil, none, "4 cpu"},
		"then the next":                       {site(), slices.Concat(many(2, card), many(32, hour)), nil, queued(cpuSort, pending, 4), "2 gpu"},
		"what ended is not there":             {site(), many(8, hour), nil, queued(cpuSort, slurm.Ended, 8), "1 cpu"},
		"what none holds":                     {site(), many(8, memory(900)), nil, none, "0"},
		"no cards: one at a time in each":     {noCards, many(3, card), nil, none, "3 cpu"},
	} {
		_, got := Next(c.site, State{}, Look{Now: now, Ready: c.ready, Begun: c.begun, Pilots: c.pilots})
		text := fmt.Sprint(got.N)
		if got.N > 0 {
			text += " " + c.site.Pilots[got.Sort].Name
		}
		testkit.Is(t, text, c.want, name)
		testkit.Is(t, got.Why, "", name)
	}
	if _, got := Next(site(), State{}, Look{Now: now, Ready: slices.Concat(many(2, card), many(20, hour))}); got != (Order{Sort: cpuSort, N: 3, Steps: 20}) {
		t.Errorf("%+v", got)
	}
}

// TestDoubt: a pilot that does none of the steps that are ready for it may have left. One look is not enough, and other sorts do not count.
func TestDoubt(t *testing.T) {
	works := queued(cpuSort, slurm.Running, 2)
	works[0].Works, works[1].Works = true, true
	half := slices.Clone(works)
	half[1].Works = false
	for name, c := range map[string]struct {
		before, now []Pilot
		ready       []Step
		want        bool
	}{
		"one of two does nothing": {half, half, many(1, of(1, 0)), true},
		"since now":               {works, half, many(1, of(1, 0)), false},
		"all work":                {works, works, many(1, of(1, 0)), false},
		"there is nothing for it": {half, half, nil, false},
		"it is no help":           {half, half, many(1, memory(99)), false},
		"it pends":                {queued(cpuSort, slurm.Pending, 1), queued(cpuSort, slurm.Pending, 1), many(1, of(1, 0)), false},
	} {
		st, _ := Next(site(), State{}, Look{Now: now, Ready: c.ready, Pilots: c.before})
		if _, got := Next(site(), st, Look{Now: now, Ready: c.ready, Pilots: c.now}); got.Doubt != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// gone is a pilot that has ended in a way after some time; negative: it never began.
func gone(id, how string, ran time.Duration) Pilot {
	x := Pilot{Queued: slurm.Queued{ID: id, State: slurm.Ended, Said: how, Ends: now}, Sort: cpuSort}
	if ran >= 0 {
		x.Starts = now.Add(-ran)
	}
	return x
}

// TestStops: three idle pilots in succession stop their sort alone; cancelled pilots are not replaced for a while.
func TestStops(t *testing.T) {
	worked := gone("w", "COMPLETED", time.Second)
	worked.Worked = true
	fails := func(ids ...string) []Pilot {
		return lists.Map(ids, func(id string) Pilot { return gone(id, "FAILED", time.Second) })
	}
	for name, c := range map[string]struct {
		looks [][]Pilot
		want  string // of why
	}{
		"two":                         {[][]Pilot{nil, fails("1", "2")}, ""},
		"three":                       {[][]Pilot{nil, fails("1", "2", "3")}, "3 pilots cpu in succession"},
		"one after the other":         {[][]Pilot{nil, fails("1"), fails("1", "2"), fails("2", "3"), nil}, "3 pilots cpu in succession"},
		"from before the first look":  {[][]Pilot{fails("1", "2", "3")}, ""},
		"the same again":              {[][]Pilot{nil, fails("1", "2"), fails("1", "2"), fails("1", "2")}, ""},
		"one of them did a step":      {[][]Pilot{nil, fails("1", "2"), {worked}, fails("3")}, ""},
		"one of them waited":          {[][]Pilot{nil, fails("1", "2"), {gone("3", "COMPLETED", 5*time.Minute)}, fails("4")}, ""},
		"preempted":                   {[][]Pilot{nil, {gone("1", "PREEMPTED", 0), gone("2", "PREEMPTED", 0), gone("3", "PREEMPTED", 1)}}, ""},
		"lost":                        {[][]Pilot{nil, {gone("1", "NODE_FAIL", 0), gone("2", "NODE_FAIL", 0), gone("3", "NODE_FAIL", 1)}}, ""},
		"never began":                 {[][]Pilot{nil, {gone("1", "DEADLINE", -1), gone("2", "DEADLINE", -1), gone("3", "DEADLINE", -1)}}, ""},
		"one of them never began":     {[][]Pilot{nil, fails("1", "2"), {gone("3", "DEADLINE", -1)}, fails("4")}, "3 pilots cpu in succession"},
		"it is not known yet how":     {[][]Pilot{nil, {gone("1", "COMPLETING", 0), gone("2", "COMPLETING", 0), gone("3", "COMPLETING", 0)}}, ""},
		"cancelled before they began": {[][]Pilot{nil, {gone("1", "CANCELLED", -1)}, nil}, "none are submitted before 12:10:01"},
		"cancelled":                   {[][]Pilot{nil, {gone("1", "CANCELLED", time.Hour)}}, "somebody has cancelled pilots"},
		"a while ago":                 {append([][]Pilot{nil, {gone("1", "CANCELLED", -1)}}, make([][]Pilot, 600)...), ""},
	} {
		var st State
		var got Order
		for i, look := range c.looks {
			st, got = Next(site(), st, Look{Now: now.Add(time.Duration(i) * time.Second), Ready: many(1, of(1, 0)), Pilots: look})
		}
		if (got.N == 1) != (c.want == "") || !strings.Contains(got.Why, c.want) || c.want == "" && got.Why != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	st, _ := Next(site(), State{}, Look{Now: now})
	st, _ = Next(site(), st, Look{Now: now, Pilots: fails("1", "2", "3")})
	if _, got := Next(site(), st, Look{Now: now, Ready: []Step{{Card: true}}}); got.N != 1 || got.Why != "" {
		t.Errorf("another sort: %+v", got)
	}
}

// TestUse: hits are left out, steps count at the pilots that hold them, and pilots at a time are those of the widest level.
func TestUse(t *testing.T) {
	v, e := &plan.Preview{Plan: &plan.Plan{}}, &estimate.Estimate{}
	add := func(o plan.Outcome, queue string, r *step.Resources, took time.Duration, deps ...int) {
		s := plan.Step{Address: fmt.Sprintf("step.k.s%d", len(v.Items)), Queue: queue, Resources: r, Deps: deps, Task: step.Task{Kind: "k"}, Pos: pipeline.Pos{File: "p", Line: len(v.Items)}}
		x := estimate.Step{Basis: estimate.Itself, P50: took, P90: took}
		if took == 0 {
			x = estimate.Step{}
		}
		v.Plan.Steps, v.Items, e.Each = append(v.Plan.Steps, s), append(v.Items, plan.Item{Outcome: o}), append(e.Each, x)
	}
	add(plan.Hit, "", nil, time.Hour)
	for _, deps := range [][]int{{0}, nil, nil} {
		add(plan.Run, "", &step.Resources{CPUs: 4, At: "p:99"}, 2*time.Hour, deps...)
	}
	add(plan.Maybe, "", &step.Resources{CPUs: 8, At: "p:99"}, 0, 1)
	add(plan.Run, "gpu", nil, 6*time.Hour)
	add(plan.Run, "", nil, 20*time.Hour)
	add(plan.Run, "", &step.Resources{Memory: 1e12, At: "p:99"}, time.Hour)
	uses, refused := UseOf(site(), v, e, step.NewRegistry())
	want := []Use{
		{Pilot: "gpu", Steps: 1, Hours: 6, Most: 1, Cores: 48, Cards: 6},
		{Pilot: "big"},
		{Pilot: "cpu", Steps: 4, Unknown: 1, Hours: 6, Most: 2, Cores: 24},
	}
	testkit.Deep(t, uses, want)
	testkit.Deep(t, refused, map[int]string{
		6: "step.k.s6 takes 20 h 0 min, and pilot gpu (s:gpu) has 11 h 58 min for a step (p:6)",
		7: "step.k.s7 asks for 1.0 TB of memory, and pilot big (s:big) has 128 GB (p:99)",
	})
}

func TestSum(t *testing.T) {
	at := time.Date(2026, 11, 29, 15, 10, 0, 0, time.Local)
	site := &slurm.Site{Pilots: []slurm.Pilot{{Name: "cpu"}, {Name: "gpu"}, {Name: "none"}}}
	got := SumOf(site, []string{"a-cpu", "a-gpu", "a-none"}, []slurm.Queued{
		{ID: "47_1", Name: "a-cpu", State: slurm.Running, Ends: at.Add(time.Hour)}, {ID: "47_2", Name: "a-cpu", State: slurm.Running, Ends: at},
		{ID: "47_3", Name: "a-cpu", Reason: "Priority"}, {ID: "48_1", Name: "a-gpu", Reason: "None"}, {ID: "46_1", Name: "a-none", State: slurm.Ended},
	})
	want := []string{"cpu 2 running (ends 15:10), 1 pending (Priority)  47_[1-3]", "gpu 1 pending  48_1"}
	testkit.Deep(t, lists.Map(got, Sum.String), want)
}
