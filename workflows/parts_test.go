package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/workflows"
)

// parted is the store and the activities of a step of many parts.
type parted struct {
	parts []artifacts.Digest
	whole artifacts.Digest

	mu     sync.Mutex
	blobs  map[artifacts.Digest][]byte
	ran    map[artifacts.Digest]int
	joined []artifacts.Digest // what the step's own work was given
}

func (p *parted) stash(_ context.Context, page []byte) (artifacts.Digest, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := artifacts.Sum(page)
	p.blobs[d] = page
	return d, nil
}

func (p *parted) page(_ context.Context, d artifacts.Digest) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blobs[d], nil
}

func (p *parted) split(ctx context.Context, _ workflows.ExecuteRequest) (s workflows.Pages[workflows.Part], err error) {
	var parts []workflows.Part
	p.mu.Lock()
	for i, key := range p.parts {
		parts = append(parts, workflows.Part{Key: key, Task: key, Kind: "part", Label: fmt.Sprintf("part %d", i), Hit: p.ran[key] > 0})
	}
	p.mu.Unlock()
	for page := []byte(nil); len(parts) > 0; {
		if page, parts, err = workflows.Pack(parts); err != nil {
			return s, err
		}
		d, err := p.stash(ctx, page)
		if err != nil {
			return s, err
		}
		s.Blobs = append(s.Blobs, d)
	}
	return s, nil
}

func (p *parted) execute(_ context.Context, req workflows.ExecuteRequest) (workflows.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran[req.Key]++
	if req.Key == p.whole {
		pages := [][]byte{}
		if len(req.Parts.Page) > 0 {
			pages = append(pages, req.Parts.Page)
		}
		for _, d := range req.Parts.Blobs {
			pages = append(pages, p.blobs[d])
		}
		for _, page := range pages {
			keys, err := workflows.Unpack[artifacts.Digest](page)
			if err != nil {
				return workflows.Outcome{}, err
			}
			p.joined = append(p.joined, keys...)
		}
	}
	return workflows.Outcome{Status: runs.Ran, Key: req.Key}, nil
}

// TestManyParts: a step of thousands of parts goes on in other executions; each part runs once, and the step gets all of them in order.
func TestManyParts(t *testing.T) {
	const parts = 3000
	p := &parted{whole: artifacts.Sum([]byte("whole")), blobs: map[artifacts.Digest][]byte{}, ran: map[artifacts.Digest]int{}}
	for i := range parts {
		p.parts = append(p.parts, artifacts.Sum(fmt.Append(nil, "part ", i)))
	}
	in := workflows.StepInput{Key: p.whole, Task: p.whole, Address: "step.split.many", RunID: "a"}
	executions := 0
	for again := true; again; executions++ {
		env := environment(map[string]any{workflows.SplitActivity: p.split, workflows.ExecuteActivity: p.execute,
			workflows.StashActivity: p.stash, workflows.PageActivity: p.page})
		events := 0 // as the server counts: three an activity, three a workflow task
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
			events += 6
			env.SetContinueAsNewSuggested(events > 4096)
		})
		env.ExecuteWorkflow(workflows.StepWorkflow, in)
		if !env.IsWorkflowCompleted() {
			t.Fatal("the step did not end")
		}
		var next *workflow.ContinueAsNewError
		err := env.GetWorkflowError()
		if again = errors.As(err, &next); again {
			in = workflows.StepInput{}
			err = converter.GetDefaultDataConverter().FromPayloads(next.Input, &in)
		}
		if err != nil {
			t.Fatal(err)
		}
		if executions > parts/100 {
			t.Fatal("it goes on for ever")
		}
	}
	if executions < 4 {
		t.Errorf("%d executions", executions)
	}
	for i, key := range p.parts {
		if p.ran[key] != 1 {
			t.Fatalf("part %d ran %d times", i, p.ran[key])
		}
	}
	if p.ran[p.whole] != 1 || !slices.Equal(p.joined, p.parts) {
		t.Errorf("the step ran %d times, with %d parts", p.ran[p.whole], len(p.joined))
	}
}

// TestOneByOne: parts that run one by one have none beside them, and none after one that has failed for good.
func TestOneByOne(t *testing.T) {
	whole := artifacts.Sum([]byte("whole"))
	for wanted, fails := range map[int32]error{6: nil, 1: temporal.NewNonRetryableApplicationError("on purpose", workflows.PermanentError, nil)} {
		var at, most, ran atomic.Int32
		env := environment(map[string]any{
			workflows.SplitActivity: func(context.Context, workflows.ExecuteRequest) (workflows.Pages[workflows.Part], error) {
				parts := make([]workflows.Part, 5)
				for i := range parts {
					parts[i] = workflows.Part{Key: artifacts.Sum(fmt.Append(nil, i)), OneByOne: true}
				}
				return workflows.PagesOf(parts, nil)
			},
			workflows.ExecuteActivity: func(_ context.Context, req workflows.ExecuteRequest) (workflows.Outcome, error) {
				most.Store(max(most.Load(), at.Add(1)))
				defer at.Add(-1)
				ran.Add(1)
				runtime.Gosched()
				return workflows.Outcome{Status: runs.Ran, Key: req.Key}, fails
			},
			workflows.StashActivity: func(context.Context, []byte) (artifacts.Digest, error) { return whole, nil },
		})
		env.ExecuteWorkflow(workflows.StepWorkflow, workflows.StepInput{Key: whole, Task: whole, Address: "step.split.alone", RunID: "a"})
		if err := env.GetWorkflowError(); (err != nil) != (fails != nil) || most.Load() != 1 || ran.Load() != wanted {
			t.Errorf("%v: %d activities, up to %d at a time; want %d", err, ran.Load(), most.Load(), wanted)
		}
	}
}
