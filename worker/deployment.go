package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/workflows"
)

// Deployment is the version of a worker deployment that a worker belongs to, in
// Temporal's sense. Zero: the worker takes what any worker may take.
//
// Workflows are pinned: a run, its steps and its continuations stay with the workers of
// the build that began it. That is more than their code asks for, which RunAgain would
// mend: a plan is made for versions of kinds, and a worker with others has to refuse it
// (plan.Plan.CheckKinds) or would give its steps other keys. A step that two runs of two builds
// want has one key, so the same kind in both, and is done by the build that began it.
type Deployment struct{ Name, Build string }

// ParseDeployment reads NAME or NAME:BUILD; a NAME alone has the build that is given.
func ParseDeployment(text, build string) (Deployment, error) {
	d := Deployment{Name: text, Build: build}
	if name, b, ok := strings.Cut(text, ":"); ok {
		d = Deployment{Name: name, Build: b}
	}
	switch {
	case d.Name == "" || strings.ContainsAny(d.Name, ".:") || strings.HasPrefix(d.Name, "__"):
		return d, fmt.Errorf("%q is not NAME or NAME:BUILD, where a name has no dot and does not begin with __", text)
	case d.Build == "":
		return d, fmt.Errorf("%q names no build, and this program does not know its version: give NAME:BUILD", text)
	}
	return d, nil
}

func (d Deployment) options() worker.DeploymentOptions {
	if d == (Deployment{}) {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{UseVersioning: true, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
		Version: worker.WorkerDeploymentVersion{DeploymentName: d.Name, BuildID: d.Build}}
}

// ErrReplaced says that a build was current and another one is now: an old worker that
// starts again takes no runs back.
var ErrReplaced = errors.New("another build has replaced it")

// SetCurrent has new runs go to this version. It waits until the server knows the version
// by the polls of its workers, on all queues of the build that is current now, or ctx ends;
// waiting is told why, now and then. An answer that comes too late is asked for again: on
// a busy server the SDK's own bound of a call (10 s) is soon over.
func (d Deployment) SetCurrent(ctx context.Context, c client.Client, waiting func(error)) error {
	handle := c.WorkerDeploymentClient().GetHandle(d.Name)
	for told := time.Now(); ; {
		known, err := handle.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
		if err == nil {
			var version client.WorkerDeploymentVersionDescription
			version, err = handle.DescribeVersion(ctx, client.WorkerDeploymentDescribeVersionOptions{BuildID: d.Build})
			if err == nil && version.Info.DrainageInfo != nil {
				return ErrReplaced
			}
		}
		if err == nil { // by the token, unless another one was set in between
			_, err = handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: d.Build, ConflictToken: known.ConflictToken})
		}
		var unknown *serviceerror.NotFound
		var unpolled *serviceerror.FailedPrecondition
		if !errors.As(err, &unknown) && !errors.As(err, &unpolled) && !workflows.Late(err) {
			return err
		}
		if time.Since(told) > tellEvery {
			told = time.Now()
			waiting(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second / 2):
		}
	}
}

// tellEvery is how often it is said why a version is not current yet.
const tellEvery = time.Minute

// Current is the build that new runs go to; "" if there is none.
func (d Deployment) Current(ctx context.Context, c client.Client) (build string, err error) {
	handle := c.WorkerDeploymentClient().GetHandle(d.Name)
	r, err := handle.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	for workflows.Late(err) && ctx.Err() == nil {
		r, err = handle.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	}
	var unknown *serviceerror.NotFound
	if errors.As(err, &unknown) { // no worker has polled yet
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if v := r.Info.RoutingConfig.CurrentVersion; v != nil {
		build = v.BuildID
	}
	return build, nil
}
