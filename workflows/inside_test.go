package workflows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Of hits in more groups than the page shows none is lost from its sum.
func TestHitsShown(t *testing.T) {
	var r run
	for i := range 100 {
		for range 2 {
			r.from = AddHit(r.from, fmt.Sprintf(`step.fit.x%d["a"]`, i), "1")
		}
	}
	var b strings.Builder
	r.describeHits(&b, &workflow.Info{Namespace: "default"})
	last := fmt.Sprintf("| `step.fit.x%d` | 2 | [`1`](/namespaces/default/workflows?query=WorkflowId", blocksShown-1)
	if text := b.String(); !strings.Contains(text, last) || !strings.HasSuffix(text, fmt.Sprintf("\n| others | %d | |\n", 2*(100-blocksShown))) {
		t.Error(text)
	}
}

// The steps of each instance of a module are a block of their own.
func TestBlocksShown(t *testing.T) {
	r := run{progress: &progress{}}
	for _, address := range []string{`module.m["a.b"].step.fit.x["1"]`, `module.m["a.b"].step.fit.x["2"]`, `module.m["[c]"].step.fit.x["1"]`, `module.m["[c]"].table.t`} {
		r.steps = append(r.steps, StepState{Address: address, Status: runs.Hit})
		r.from = AddHit(r.from, address, "1")
	}
	var b strings.Builder
	r.describeBlocks(&b)
	r.describeHits(&b, &workflow.Info{Namespace: "default"})
	for block, n := range map[string]int{`module.m["a.b"].step.fit.x`: 2, `module.m["[c]"].step.fit.x`: 1, `module.m["[c]"].table.t`: 1} {
		if row := fmt.Sprintf("| `%s` | %d |", block, n); strings.Count(b.String(), row) != 2 {
			t.Errorf("%s is not there of the run and of its hits:\n%s", row, b.String())
		}
	}
}

// busy answers queries after some errors.
type busy struct {
	client.Client
	errs  []error
	asked int
}

func (b *busy) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	if b.asked++; b.asked <= len(b.errs) {
		return nil, b.errs[b.asked-1]
	}
	return client.NewValue(must(converter.GetDefaultDataConverter().ToPayloads(7))), nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestAsk: a question that died with a stopping worker's poll is asked again, and what a
// run or who asks has ended is not.
func TestAsk(t *testing.T) {
	gone, late := serviceerror.NewCanceled("context canceled"), serviceerror.NewDeadlineExceeded("context deadline exceeded")
	other := serviceerror.NewNotFound("no such run")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		errs  []error
		asked int
		err   error
	}{
		"answered":          {t.Context(), nil, 1, nil},
		"polls are gone":    {t.Context(), []error{gone, late, context.DeadlineExceeded}, 4, nil},
		"all polls go":      {t.Context(), make([]error, 100), 11, gone},
		"another error":     {t.Context(), []error{other}, 1, other},
		"nobody asks":       {ended, []error{gone}, 1, gone},
		"gone, then failed": {t.Context(), []error{gone, other}, 2, other},
	} {
		for i := range c.errs {
			if c.errs[i] == nil {
				c.errs[i] = gone
			}
		}
		b := &busy{errs: c.errs}
		n, err := Ask[int](c.ctx, b, "run", StateQuery)
		if !errors.Is(err, c.err) || b.asked != c.asked || err == nil && n != 7 {
			t.Errorf("%s: %d, %v, asked %d times", name, n, err, b.asked)
		}
	}
}

// An error of an activity comes to who started the run with its kind and fields, through
// the server's form of it.
func TestErrorOf(t *testing.T) {
	plan := PlanLost{Plan: artifacts.Sum([]byte("plan")), Store: "/elsewhere"}
	result := ReproduceResult{RunID: "r", Failed: 2, Changed: []string{"step.a.b"}}
	app := temporal.NewNonRetryableApplicationError
	for name, c := range map[string]struct {
		err  error
		want *RunError
	}{
		"no plan":                {app("gone", PlanLostError, nil, plan), &RunError{Type: PlanLostError, Text: "gone", PlanLost: &plan}},
		"no plan, wrapped":       {fmt.Errorf("activity: %w", app("gone", PlanLostError, nil, plan)), &RunError{Type: PlanLostError, Text: "gone", PlanLost: &plan}},
		"failed steps":           {app("2 of 3", FailedRun, nil, result), &RunError{Type: FailedRun, Text: "2 of 3", Result: result}},
		"of another version":     {app("2 of 3", FailedRun, nil, "text"), &RunError{Type: FailedRun, Text: "2 of 3"}},
		"before there were such": {app("plan sha256:00: not in the store", InputLostError, nil), &RunError{Type: InputLostError, Text: "plan sha256:00: not in the store"}},
		"no application error":   {errors.New("x"), &RunError{Type: PermanentError, Text: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := temporal.GetDefaultFailureConverter()
			testkit.Deep(t, ErrorOf(f.FailureToError(f.ErrorToFailure(final(c.err)))), c.want)
		})
	}
}

// line is a plan of so many steps, each after the one before it.
func line(n int) []Head {
	heads := make([]Head, n)
	for i := 1; i < n; i++ {
		heads[i].Deps = []int{i - 1}
	}
	return heads
}

func all(int) bool { return true }

func TestFollowing(t *testing.T) {
	p := newProgress(line(10))
	testkit.Deep(t, p.following([]int{0}, 4, all), []int{1, 2, 3, 4})
	p.hold(3)
	testkit.Deep(t, p.following([]int{0}, 100, all), []int{1, 2}, "up to one that is held")
	// 0 and 1 are read by 2, which 3 reads; 4 reads 1 and a step that has a result.
	p = newProgress([]Head{{}, {}, {Deps: []int{0, 1}}, {Deps: []int{2}}, {Deps: []int{1, 5}}, {}})
	testkit.Is(t, len(p.following([]int{0}, 100, all)), 0, "one input is missing")
	testkit.Deep(t, p.following([]int{0, 1}, 100, all), []int{2, 3})
	p.set(5, runs.Ran)
	testkit.Deep(t, p.following([]int{1}, 100, all), []int{4})
	testkit.Is(t, len(p.following([]int{1}, 100, func(i int) bool { return i != 4 })), 0)
}

func TestTake(t *testing.T) {
	p := newProgress(make([]Head, 10)) // none has inputs
	short := func(i int) bool { return i%2 == 0 }
	testkit.Deep(t, p.take(2, 1, short, never), []int{0, 1, 2}, "first")
	testkit.Deep(t, p.take(10, 0, short, never), []int{4, 6, 8}, "then")
	p.set(5, runs.Running) // parked by then
	testkit.Deep(t, p.take(0, 10, short, never), []int{3, 7, 9}, "at last")
	testkit.Is(t, len(p.take(10, 10, short, never)), 0, "twice")
	p.set(5, runs.Waiting)
	testkit.Deep(t, p.take(10, 10, all, never), []int{5}, "one that waits again")
}

// TestEachStepOnce walks random plans as a run does, with room that comes and goes and
// steps that are held with others: each step is begun once, after its inputs.
func TestEachStepOnce(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		heads := make([]Head, 1+rnd.IntN(60))
		for i := range heads {
			for d := range i {
				if rnd.IntN(8) == 0 {
					heads[i].Deps = append(heads[i].Deps, d)
				}
			}
		}
		p := newProgress(heads)
		begun := map[int]bool{}
		var working [][]int
		begin := func(steps []int) {
			for _, i := range steps {
				if begun[i] {
					t.Fatalf("seed %d: step %d begins twice", seed, i)
				}
				begun[i] = true
				p.hold(i)
			}
			working = append(working, steps)
		}
		for len(begun) < len(heads) || len(working) > 0 {
			ready := p.take(rnd.IntN(4), rnd.IntN(3), func(i int) bool { return i%3 != 0 }, never)
			for _, i := range ready {
				for _, d := range heads[i].Deps {
					if !done(p.steps[d].Status) {
						t.Fatalf("seed %d: step %d begins before its input %d", seed, i, d)
					}
				}
			}
			if len(ready) > 0 {
				begin(slices.Concat(ready, p.following(ready, rnd.IntN(5), all)))
			}
			if len(working) > 0 && (len(ready) == 0 || rnd.IntN(2) == 0) {
				n := rnd.IntN(len(working))
				for _, i := range working[n] {
					p.held[i] = false
					p.set(i, runs.Ran)
				}
				working = slices.Delete(working, n, n+1)
			}
		}
		if n := p.counts()[runs.Ran]; n != len(heads) {
			t.Fatalf("seed %d: %d of %d steps", seed, n, len(heads))
		}
	}
}

// TestRanks: what has the longest way to the end begins first, of steps that are ready at the
// same time; a step that has never run counts as the others do.
func TestRanks(t *testing.T) {
	s := func(seconds float64) *float64 { return &seconds }
	heads := []Head{{TookS: s(5)}, {TookS: s(1)}, {TookS: s(9), Deps: []int{1}}, {TookS: s(1)}, {Deps: []int{3}}, {TookS: s(3), Deps: []int{4}}, {TookS: s(5)}}
	if got, want := newProgress(heads).ready.rank, []float64{5, 10, 9, 8, 7, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("ranks %v, want %v", got, want)
	}
	testkit.Deep(t, newProgress(heads).take(10, 0, all, never), []int{1, 3, 0, 6})
	testkit.Deep(t, newProgress(line(3)).ready.rank, []float64{3, 2, 1}, "without history")
}

func never(int) bool { return false }
