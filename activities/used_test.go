package activities

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

type usedConfig struct {
	Bytes int `hcl:"bytes" help:"h"`
}

// TestUsedOfParts: the result of a step tells what it and its parts used, as their own
// results do.
func TestUsedOfParts(t *testing.T) {
	cpu := time.Duration(0)
	part := step.DefinePart(step.Kind[usedConfig]{Name: "piece", Version: 1, Doc: "D.", Outputs: []step.Output{{Name: "out", Type: "text"}},
		Run: func(_ context.Context, x *step.IO, c usedConfig) error {
			cpu += time.Second
			w, err := x.Create("out")
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%0*d", c.Bytes, 0); err != nil {
				return err
			}
			return w.Close()
		}})
	whole := step.Define(step.Kind[usedConfig]{Name: "whole", Version: 1, Doc: "D.", Outputs: []step.Output{{Name: "out", Type: "text"}}, Parts: []step.Spec{part.Spec},
		Split: func(_ context.Context, _ *step.IO, c usedConfig) (tasks []step.Task, err error) {
			for i := range 2 {
				task, err := part.Task(usedConfig{Bytes: c.Bytes + i})
				if err != nil {
					return nil, err
				}
				tasks = append(tasks, task)
			}
			return tasks, nil
		},
		Run: func(_ context.Context, x *step.IO, _ usedConfig) error {
			cpu += 5 * time.Second
			for _, p := range x.Parts() {
				a := p.Outputs["out"]
				r, err := x.Open(step.Input{Artifact: &a})
				if err != nil {
					return err
				}
				if _, err := io.Copy(io.Discard, r); err != nil {
					return err
				}
				if err := r.Close(); err != nil {
					return err
				}
			}
			return x.Link("out", x.Parts()[0].Outputs["out"])
		}})
	a := &Activities{Store: artifacts.Alone(mem.New()), Registry: step.NewRegistry(whole), Log: slog.New(slog.DiscardHandler),
		Usage: usage.New(usage.Machine{CPU: func() (time.Duration, bool) { return cpu, true }})}
	task := step.Task{Kind: "whole", Config: []byte(`{"bytes":10}`)}
	key, _, err := a.Registry.Key(task)
	errtest.None(t, err)
	made, err := a.Rebuild(t.Context(), "step.whole.x", key, task, RebuildOptions{})
	errtest.None(t, err)
	want := artifacts.Used{CPU: 7, CPUOf: artifacts.CPUOfStep, Read: 21, Written: 21}
	if got := made.Made.Used; got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	stored, err := artifacts.Lookup(t.Context(), a.Store, key)
	if err != nil || stored == nil || stored.Used == nil || *stored.Used != want {
		t.Errorf("stored %+v, %v", stored, err)
	}
}
