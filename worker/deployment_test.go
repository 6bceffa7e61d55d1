package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

func TestParseDeployment(t *testing.T) {
	for text, want := range map[string]worker.Deployment{
		"redsi":        {Name: "redsi", Build: "v7"},
		"redsi:v8":     {Name: "redsi", Build: "v8"},
		"redsi:v8:x.y": {Name: "redsi", Build: "v8:x.y"},
		"":             {},
		"a.b":          {},
		"__a":          {},
		":v8":          {},
		"redsi:":       {},
	} {
		got, err := worker.ParseDeployment(text, "v7")
		if (err != nil) != (want == worker.Deployment{}) || err == nil && got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	testkit.ErrSays(t, testkit.Err(worker.ParseDeployment("redsi", "")), "NAME:BUILD")
}

// lateHandle answers each question late once.
type lateHandle struct {
	client.WorkerDeploymentHandle
	calls map[string]int
}

func (h lateHandle) late(call string) error {
	h.calls[call]++
	if h.calls[call] == 1 {
		return fmt.Errorf("%s: %w", call, context.DeadlineExceeded)
	}
	return nil
}

func (h lateHandle) Describe(context.Context, client.WorkerDeploymentDescribeOptions) (r client.WorkerDeploymentDescribeResponse, err error) {
	r.Info.RoutingConfig.CurrentVersion = &sdkworker.WorkerDeploymentVersion{BuildID: "A"}
	return r, h.late("describe")
}

func (h lateHandle) DescribeVersion(context.Context, client.WorkerDeploymentDescribeVersionOptions) (d client.WorkerDeploymentVersionDescription, err error) {
	return d, h.late("version")
}

func (h lateHandle) SetCurrentVersion(context.Context, client.WorkerDeploymentSetCurrentVersionOptions) (r client.WorkerDeploymentSetCurrentVersionResponse, err error) {
	return r, h.late("set")
}

type lateClient struct {
	client.Client
	deployments lateDeployments
}

func (c lateClient) WorkerDeploymentClient() client.WorkerDeploymentClient { return c.deployments }

type lateDeployments struct {
	client.WorkerDeploymentClient
	handle lateHandle
}

func (d lateDeployments) GetHandle(string) client.WorkerDeploymentHandle { return d.handle }

// TestDeploymentLate: a busy server that answers late ends neither.
func TestDeploymentLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := worker.Deployment{Name: "redsi", Build: "A"}
		calls := map[string]int{}
		c := lateClient{deployments: lateDeployments{handle: lateHandle{calls: calls}}}
		if err := d.SetCurrent(t.Context(), c, func(err error) { t.Log(err) }); err != nil || calls["set"] != 2 {
			t.Error(err, calls)
		}
		clear(calls)
		testkit.Of(t, "A")(d.Current(t.Context(), c))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		clear(calls)
		testkit.Some(t, testkit.Err(d.Current(ended, c)), "an ended context answers")
	})
}

// TestDeployment: a run that one build began stays with it when another one is current,
// with all of its steps; new runs go to the other build, and wait for a step that is at
// work in the first.
func TestDeployment(t *testing.T) {
	t.Parallel()
	b := idleBench(t, 8)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	deployment := fmt.Sprintf("%s-%d", t.Name(), time.Now().UnixNano()) // the server keeps those of before
	build := func(name string) {
		t.Helper()
		a, d := b.activities(), worker.Deployment{Name: deployment, Build: name}
		a.Env = map[string]string{"build": name}
		b.startWorkerWith(a, worker.Options{Deployment: d})
		testkit.None(t, d.SetCurrent(ctx, b.c, func(err error) { t.Log(err) }))
		if current, err := d.Current(ctx, b.c); err != nil || current != name {
			t.Fatalf("current is %q, %v", current, err)
		}
	}
	const held = `
step "text" "held" {
  text = "held"
  hold = true
}
`
	first := held + `
step "text" "after" {
  text  = "after"
  after = step.text.held.out
}
step "short" "last" {
  text  = "last"
  after = [step.text.after.out]
}
`
	second := held + `
step "text" "other" { text = "other" }
step "text" "both" {
  text  = "both"
  after = [step.text.held.out, step.text.other.out]
}
`
	build("A")
	began := b.start(first, "1")
	b.next()
	build("B")
	next := b.start(second, "2")
	b.awaitActivity(workflows.RestActivity, "", next.GetID())
	if err := (worker.Deployment{Name: deployment, Build: "A"}).SetCurrent(ctx, b.c, func(error) {}); !errors.Is(err, worker.ErrReplaced) {
		t.Errorf("an old build takes runs back: %v", err)
	}
	close(b.hold)
	for name, w := range map[string]interface{ GetID() string }{"A": began, "B": next} {
		d, err := b.c.DescribeWorkflowExecution(ctx, w.GetID(), "")
		testkit.None(t, err)
		v := d.GetWorkflowExecutionInfo().GetVersioningInfo()
		testkit.Is(t, v.GetBehavior(), enums.VERSIONING_BEHAVIOR_PINNED, "the run of is", v)
		testkit.Is(t, v.GetDeploymentVersion().GetBuildId(), name, "the run of is", v)
	}
	if r, err := b.wait(began); err != nil || r.Ran != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := b.wait(next); err != nil || r.Ran != 2 || r.Hit != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	for address, want := range map[string]string{"step.text.held": "A", "step.text.after": "A", "step.short.last": "A"} {
		testkit.Is(t, b.result(first, address).Env["build"], want, address)
	}
	for address, want := range map[string]string{"step.text.other": "B", "step.text.both": "B"} {
		testkit.Is(t, b.result(second, address).Env["build"], want, address)
	}
}
