package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
)

// TestWhileWhole: a run ends when its own worker can compute no more, and says why; on a
// cluster, whose workers are others, nothing does.
func TestWhileWhole(t *testing.T) {
	c, err := client.NewLazyClient(client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var said bytes.Buffer
	a := &app{}
	a.sayer.w = &said
	acts := &activities.Activities{}
	conn := &connection{worker: worker.New(c, acts, worker.Options{})}
	ctx, stop := a.whileWhole(t.Context(), conn)
	defer stop()
	if ctx.Err() != nil {
		t.Fatal("it has ended before anything broke")
	}
	acts.Broken(step.Poisoned(errors.New("an illegal memory access")))
	<-ctx.Done()
	if !strings.Contains(said.String(), "can compute no more, so its run ends here: an illegal memory access") {
		t.Errorf("it said %q", said.String())
	}
	if t.Context().Err() != nil {
		t.Error("more has ended than the run")
	}
	other, stop := a.whileWhole(t.Context(), &connection{})
	if other.Err() != nil {
		t.Error("a run of others has ended")
	}
	stop()
	if !errors.Is(other.Err(), context.Canceled) {
		t.Error("it goes on for ever")
	}
}
