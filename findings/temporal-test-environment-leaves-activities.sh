#!/bin/sh
# TestWorkflowEnvironment.ExecuteWorkflow of Temporal's Go SDK (1.50.0 and 1.51.0, the newest on 2026-11-30) returns as soon
# as the workflow has ended, while the goroutine of an activity that the workflow cancelled is still at work; the
# environment has nothing to wait for it by. What such an activity writes, and the test reads after ExecuteWorkflow, is a data race
# that only some runs of `go test -race` show. An interceptor of activities can count them and refuse late ones
# (worker.Options.Interceptors through SetWorkerOptions).
#
# Runs a workflow that cancels an activity, which holds until ExecuteWorkflow has returned, in a temporary module; fails if
# that has changed. Needs Go 1.26 or newer.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
export GOTOOLCHAIN=auto GOWORK=off GOFLAGS=-mod=mod
cat > leaves_test.go <<'GO'
package leaves

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

func TestLeaves(t *testing.T) {
	began, returned, ended := make(chan bool), make(chan bool), make(chan bool)
	slow := func(context.Context) error {
		close(began)
		<-returned
		close(ended)
		return nil
	}
	quick := func(context.Context) error { <-began; return nil }
	flow := func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour})
		cancelled, cancel := workflow.WithCancel(ctx)
		workflow.ExecuteActivity(cancelled, slow)
		err := workflow.ExecuteActivity(ctx, quick).Get(ctx, nil)
		cancel()
		return err
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflow(flow)
	env.RegisterActivity(slow)
	env.RegisterActivity(quick)
	env.ExecuteWorkflow(flow)
	fmt.Println("completed:", env.IsWorkflowCompleted(), "error:", env.GetWorkflowError())
	select {
	case <-ended:
		fmt.Println("the activity had ended")
	default:
		fmt.Println("the activity was still at work")
	}
	close(returned)
	<-ended
}
GO
for sdk in v1.50.0 v1.51.0; do
	printf 'module example.org/leaves\n\ngo 1.26\n' > go.mod
	rm -f go.sum
	go get "go.temporal.io/sdk@$sdk" 2>downloads || { cat downloads >&2; exit 1; }
	echo "sdk $sdk"
	go test -v -count=1 -timeout=2m . 2>downloads | grep '^completed\|^the activity' || { cat downloads >&2; exit 1; }
done > seen
cat > expected <<'TEXT'
sdk v1.50.0
completed: true error: <nil>
the activity was still at work
sdk v1.51.0
completed: true error: <nil>
the activity was still at work
TEXT
diff expected seen
cat seen
