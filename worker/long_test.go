package worker_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/devserver/devservertest"
	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/workflows"
)

// TestLongHistory: a run whose history grows long continues in another execution,
// although one of its steps rests for longer than all others take; the next execution
// asks for that one again.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	program, err := devserver.Find()
	errtest.None(t, err)
	long, err := devservertest.Start(t.Context(), devserver.Options{Program: program, SearchAttributes: workflows.SearchAttributes(), Long: 100})
	errtest.None(t, err)
	t.Cleanup(long.Stop)
	opts, err := long.ClientOptions()
	errtest.None(t, err)
	b := benchAt(t, opts, 8, payload.Codec{}, nil)
	b.startWorker()
	const slow = `
step "text" "long" {
  text = "long history"
  hold = true
}
`
	holder := b.start(slow, "1")
	b.says("long history")
	w := b.start(slow+`
step "split" "many" { # each in a workflow of its own: three events at least, of the 100 after which this server speaks up
  for_each = toset([for i in range(40) : tostring(i)])
  text     = "many ${each.key}"
}
step "short" "last" {
  text  = "last"
  after = [step.text.long.out, step.split.many["7"].out]
}
`, "2")
	first := w.GetRunID()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	end, err := b.c.GetWorkflowHistory(ctx, w.GetID(), first, true, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT).Next()
	if err != nil || end.EventType != enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW {
		t.Fatalf("the run did not go on in another execution: %v, %v", end, err)
	}
	d, err := b.c.DescribeWorkflowExecution(ctx, w.GetID(), "")
	if err != nil || d.ExecutionConfig.DefaultWorkflowTaskTimeout.AsDuration() != workflows.TaskTimeout {
		t.Errorf("the next execution has %v, %v", d.GetExecutionConfig(), err)
	}
	close(b.hold)
	var r workflows.ReproduceResult
	if err := w.Get(ctx, &r); err != nil || r.Ran != 41 || r.Hit != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := holder.Get(ctx, &r); err != nil || r.Ran != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	b.keep("long-1", w.GetID(), first)
	b.keep("long-2", w.GetID(), "")
	if n := b.count("long history"); n != 1 {
		t.Errorf("the long step ran %d times", n)
	}
}
