package worker_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/redsi/redsi/internal/host/payload"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// codecOf is a codec with one key, of 64 such digits.
func codecOf(t *testing.T, digit string) payload.Codec {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	testkit.None(t, os.WriteFile(file, []byte(strings.Repeat(digit, 64)), 0o600))
	c, err := payload.Load(file)
	testkit.None(t, err)
	return c
}

// plainClient is that of somebody who reads the server and has no key.
func plainClient(t *testing.T) client.Client {
	t.Helper()
	opts, err := server.ClientOptions()
	testkit.None(t, err)
	opts.Logger = quiet
	c, err := client.Dial(opts)
	testkit.None(t, err)
	t.Cleanup(c.Close)
	return c
}

// historiesOf are the events of a workflow and of those that it started, as the
// server stores them.
func historiesOf(t *testing.T, c client.Client, id string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var all []byte
	it := c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		testkit.None(t, err)
		b, err := proto.Marshal(e)
		testkit.None(t, err)
		all = append(all, b...)
		if child := e.GetChildWorkflowExecutionStartedEventAttributes(); child != nil {
			all = append(all, historiesOf(t, c, child.WorkflowExecution.WorkflowId)...)
		}
	}
	return all
}

// TestHistoriesSayNothing runs the same with and without a key: what is in the
// histories without one is in none with one.
func TestHistoriesSayNothing(t *testing.T) {
	planted := []string{"planted-summary", "planted-details", "planted-error", "planted-pipeline", "planted-name", "planted-cut"}
	for _, c := range []struct {
		name   string
		codec  payload.Codec
		hidden bool
	}{{"plain", payload.Codec{}, false}, {"key", codecOf(t, "a"), true}} {
		t.Run(c.name, func(t *testing.T) {
			b := idleBenchOf(t, 4, c.codec, nil)
			b.startWorker()
			b.fails("broken", "planted-error")
			_, d := b.plan(`
step "text" "planted-name" { text = "one" }
step "split" "planted-cut" { text = "cut" }
step "text" "two" { text = "broken" }
`)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			id := t.Name() + "/run"
			w, err := b.c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: t.Name(),
				StaticSummary: "planted-summary", StaticDetails: "planted-details"},
				workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "planted-pipeline.hcl", Plan: &d, RunID: t.Name()})
			testkit.None(t, err)
			testkit.ErrSays(t, w.Get(ctx, nil), "planted-error")
			stored := historiesOf(t, plainClient(t), id)
			for _, text := range planted {
				if bytes.Contains(stored, []byte(text)) == c.hidden {
					t.Errorf("hidden is to be %v: %s", c.hidden, text)
				}
			}
			testkit.Is(t, b.count("one"), 1)
		})
	}
}

// TestWorkersWithoutTheKey fails a run at once, in words that say what to do; so
// does a client that cannot read what a worker with a key answers.
func TestWorkersWithoutTheKey(t *testing.T) {
	key := codecOf(t, "b")
	for _, c := range []struct {
		name           string
		client, worker payload.Codec
	}{{"worker", key, payload.Codec{}}, {"other", key, codecOf(t, "c")}, {"client", payload.Codec{}, key}} {
		t.Run(c.name, func(t *testing.T) {
			b := idleBenchOf(t, 4, c.worker, nil)
			b.startWorker()
			opts, err := server.ClientOptions()
			testkit.None(t, err)
			opts.Logger = quiet
			opts.DataConverter, opts.FailureConverter = c.client.DataConverter(), c.client.FailureConverter()
			starter, err := client.Dial(opts)
			testkit.None(t, err)
			t.Cleanup(starter.Close)
			_, d := b.plan(`step "text" "one" { text = "x" }`)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			w, err := starter.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: t.Name(), TaskQueue: t.Name()},
				workflows.ReproduceWorkflow, workflows.ReproduceInput{Pipeline: "t.hcl", Plan: &d, RunID: t.Name()})
			testkit.None(t, err)
			var r workflows.ReproduceResult
			err = w.Get(ctx, &r)
			testkit.ErrSays(t, err, key.IDs()[0], "lacks", "--payload-key")
			var app *temporal.ApplicationError
			var own *payload.Error
			if !errors.As(err, &own) && (!errors.As(err, &app) || app.Type() != payload.ErrorType) {
				t.Errorf("got %T: %v", err, err)
			}
		})
	}
}

var _ converter.PayloadCodec = payload.Codec{}
