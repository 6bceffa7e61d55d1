package worker_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redsi/redsi/workflows"
)

var update = flag.Bool("update", false, "write the histories that workflows/replay_test.go replays")

// TestHistories runs what the replay tests replay: a chain, a step in parts, a
// step that loses its input. With -update it saves their histories; do that only
// when a change of workflow code cannot be made compatible, and say so.
func TestHistories(t *testing.T) {
	b := newBench(t)
	src := chain + `
step "split" "s" {
  text  = "p"
  split = 2
  after = step.text.a.out
}
`
	w := b.start(src, "history")
	if _, err := b.wait(w); err != nil {
		t.Fatal(err)
	}
	if !*update {
		return
	}
	b.save("reproduce", w.GetID())
	b.save("step", workflows.StepWorkflowID(b.result(src, "step.text.b").Key))
	b.save("parts", workflows.StepWorkflowID(b.result(src, "step.split.s").Key))
}

func (b *bench) save(name, id string) {
	b.t.Helper()
	var h history.History
	events := b.c.GetWorkflowHistory(context.Background(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			b.t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	raw, err := protojson.MarshalOptions{Indent: " "}.Marshal(&h)
	if err != nil {
		b.t.Fatal(err)
	}
	// protojson varies its spaces between builds on purpose; files must not.
	text := strings.ReplaceAll(string(raw), `":  `, `": `)
	path := filepath.Join("..", "workflows", "testdata", "histories", name+".json")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
		b.t.Fatal(err)
	}
}
