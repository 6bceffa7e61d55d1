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
)

// Deployment is the version of a worker deployment that a worker belongs to, in
// Temporal's sense. Zero: the worker takes what any worker may take.
//
// Workflows are pinned: a run, its steps and its continuations stay with the workers of
// the build that began it. That is more than their code asks for, which RunAgain would
// mend: a plan is made for versions of kinds, and a worker with others has to refuse it
// (plan.CheckKinds) or would give its steps other keys. A step that two runs of two builds
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

// SetCurrent has new runs go to this version. It waits until the server knows the version
// by a worker's polls, or ctx ends.
func (d Deployment) SetCurrent(ctx context.Context, c client.Client) error {
	for {
		_, err := c.WorkerDeploymentClient().GetHandle(d.Name).SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: d.Build})
		var unknown *serviceerror.NotFound
		var unpolled *serviceerror.FailedPrecondition
		if !errors.As(err, &unknown) && !errors.As(err, &unpolled) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second / 2):
		}
	}
}

// Current is the build that new runs go to; "" if there is none.
func (d Deployment) Current(ctx context.Context, c client.Client) (build string, err error) {
	r, err := c.WorkerDeploymentClient().GetHandle(d.Name).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
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
