package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/workflows"
)

func sum(s string) artifacts.Digest { return artifacts.Sum([]byte(s)) }

// planned is a run of plans without a store.
type planned struct {
	plans [2][]workflows.Head // the second follows from the first
	mute  string              // the step that is never answered for, nor one behind it
	fails string              // the step whose work fails
	late  string              // the step that is looked up until that has failed

	failed chan struct{}
	took   float64 // seconds, of each step

	mu    sync.Mutex // activities run at the same time
	began []string   // steps
}

func (p *planned) of(d artifacts.Digest) []workflows.Head {
	if d == sum("grown") {
		return p.plans[1]
	}
	return p.plans[0]
}

func (p *planned) prepare(_ context.Context, req workflows.PrepareRequest) (out []workflows.Outcome, err error) {
	for _, s := range req.Steps {
		a := p.of(req.Plan)[s.Index].Address
		if a == p.late {
			<-p.failed
		}
		out = append(out, workflows.Outcome{Index: s.Index, Status: runs.Waiting, Key: sum(a)})
	}
	return out, nil
}

func (p *planned) do(_ context.Context, req workflows.DoRequest) (out []workflows.Outcome, err error) {
	for _, s := range req.Steps {
		a := p.of(req.Plan)[s.Index].Address
		p.mu.Lock()
		p.began = append(p.began, a)
		p.mu.Unlock()
		if a == p.fails {
			return nil, temporal.NewNonRetryableApplicationError("on purpose", workflows.PermanentError, nil)
		}
		if a == p.mute {
			break
		}
		out = append(out, workflows.Outcome{Index: s.Index, Status: runs.Ran, Key: sum(a), TookS: p.took})
	}
	return out, nil
}

func (p *planned) run(t *testing.T, failFast bool) (res workflows.ReproduceResult, err error) {
	p.failed = make(chan struct{})
	env := environment(map[string]any{
		workflows.LoadActivity: func(context.Context, workflows.LoadRequest) (l workflows.Loaded, err error) {
			l.Plan, l.Name = sum("first"), "t.hcl"
			l.Steps, err = workflows.PagesOf(p.plans[0], nil)
			return l, err
		},
		workflows.GrowActivity: func(context.Context, workflows.GrowRequest) (g workflows.Grown, err error) {
			g.Plan = sum("grown")
			g.Steps, err = workflows.PagesOf(p.plans[1], nil)
			return g, err
		},
		workflows.PrepareActivity: p.prepare,
		workflows.DoActivity:      p.do,
		workflows.JournalActivity: func(context.Context, workflows.JournalRequest) error { return nil },
	})
	env.SetOnActivityCompletedListener(func(_ *activity.Info, _ converter.EncodedValue, err error) {
		if err != nil {
			close(p.failed)
		}
	})
	env.ExecuteWorkflow(workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", RunID: "r", FailFast: failFast})
	if err = env.GetWorkflowError(); err == nil {
		err = env.GetWorkflowResult(&res)
	}
	return res, err
}

// TestGrowMeanwhile: steps that are given out are done once when the plan has grown, or shrunk, before them meanwhile.
func TestGrowMeanwhile(t *testing.T) {
	for pieces := range 4 {
		list := workflows.Head{Address: "list", Kind: "text", Inline: true}
		each := workflows.Head{Address: "each", Kind: "text", Inline: true, Deps: []int{0}}
		pending := each
		pending.Awaits = []int{0}
		p := &planned{plans: [2][]workflows.Head{{list, pending}, {list}}}
		for i := range pieces {
			each.Address = fmt.Sprintf("each[%d]", i)
			p.plans[1] = append(p.plans[1], each)
		}
		for i := range 10 {
			h := workflows.Head{Address: fmt.Sprintf("other[%d]", i), Kind: "command", Class: "command x"}
			p.plans[0], p.plans[1] = append(p.plans[0], h), append(p.plans[1], h)
		}
		if res, err := p.run(t, false); err != nil || res.Ran != 11+pieces || res.NotStarted != 0 {
			t.Errorf("%d pieces: %+v, %v", pieces, res, err)
		}
	}
}

// TestForgottenStep: a run does not end well with a step that nothing came of.
func TestForgottenStep(t *testing.T) {
	p := &planned{mute: "b"}
	p.plans[0] = []workflows.Head{{Address: "a", Kind: "text", Inline: true}, {Address: "b", Kind: "text", Inline: true}, {Address: "c", Kind: "text", Inline: true, Deps: []int{1}}}
	if res, err := p.run(t, false); err == nil || !strings.Contains(err.Error(), "1 of 3 steps failed, 1 skipped:\nb: its worker answered") {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestFailFast: nothing begins after a failure, though it was being looked up when that came; what no worker says that it
// has begun is taken back.
func TestFailFast(t *testing.T) {
	slow := 5.0
	for _, took := range []*float64{&slow, nil} {
		p := &planned{fails: "fails", late: "late"}
		p.plans[0] = []workflows.Head{{Address: "fails", Kind: "command", TookS: &slow}, {Address: "first", Kind: "text", Inline: true},
			{Address: "late", Kind: "command", Class: "other", TookS: took, Deps: []int{1}}}
		_, err := p.run(t, true)
		if err == nil || slices.Contains(p.began, "late") || !strings.Contains(err.Error(), " not started:\nfails: on purpose") {
			t.Errorf("%q began, %v", p.began, err)
		}
	}
}
