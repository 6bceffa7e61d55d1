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

// Deployment is the version of a worker deployment that a worker belongs to, in Temporal's sense. Zero: the worker takes
// what any worker may take.
//
// Workflows are pinned: a run, its steps and its continuations stay with the workers of the build that began it.
// Their code does not need that, since RunAgain would restart them, but a plan is for certain versions of kinds, and
// a worker with other versions has to refuse it (plan.Plan.CheckKinds) or would give its steps other keys. A step
// that runs of two builds want has one key, so the same kind in both, and the build that began it does it.
type Deployment struct{ Name, Build string }

// ParseDeployment reads NAME or NAME:BUILD; NAME without BUILD gets the given build.
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

// ErrReplaced says that a build was current and another build is now: an old worker that restarts takes no runs back.
var ErrReplaced = errors.New("another build has replaced it")

// SetCurrent has new runs go to this version. It returns when workers of the version poll all queues of the build
// that is current now, so that the server knows the version, or when ctx ends; waiting is told now and then why it
// has not. A call that gets no answer in time is retried: on a busy server the SDK's own bound of a call (10 s) is
// soon over.
func (d Deployment) SetCurrent(ctx context.Context, c client.Client, waiting func(error)) error {
	handle := c.WorkerDeploymentClient().GetHandle(d.Name)
	for told := time.Now(); ; {
		now, err := handle.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
		if err == nil {
			var version client.WorkerDeploymentVersionDescription
			version, err = handle.DescribeVersion(ctx, client.WorkerDeploymentDescribeVersionOptions{BuildID: d.Build})
			if err == nil && version.Info.DrainageInfo != nil {
				return ErrReplaced
			}
		}
		if err == nil { // by the token, unless another version was set in between
			_, err = handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: d.Build, ConflictToken: now.ConflictToken})
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

// tellEvery is how often SetCurrent says why the version is not current yet.
const tellEvery = time.Minute

// Current returns the build to which new runs go; "" if there is none.
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
