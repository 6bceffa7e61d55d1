//go:build !notorch

package activities

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/internal/device"
	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/usage"
	"github.com/redsi/redsi/step"
)

// TestCardOfResult: a result says on which card it was made, and of a step that took none
// nothing.
func TestCardOfResult(t *testing.T) {
	end := tensor.Emulate()
	defer end()
	type config struct {
		Device string `hcl:"device,nokey" help:"h"`
	}
	kind := step.Define(step.Kind[config]{Name: "computes", Version: 1, Doc: "D.", Outputs: []step.Output{{Name: "out", Type: "text"}}, Needs: "libtorch",
		Run: func(ctx context.Context, x *step.IO, c config) error {
			on, err := device.Of(ctx, c.Device)
			if err != nil {
				return err
			}
			w, err := x.Create("out")
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, on.String()); err != nil {
				return err
			}
			return w.Close()
		}})
	a := &Activities{Store: mem.New(), Registry: step.NewRegistry(kind), Log: slog.New(slog.DiscardHandler), Usage: usage.New(usage.Machine{}),
		Cards: device.NewPool(device.PoolOptions{Cards: []int{0}, Only: true})}
	for name, want := range map[string]string{"auto": "cuda:0", "cpu": ""} {
		task := step.Task{Kind: "computes", Config: []byte(`{"device":"` + name + `"}`)}
		key, _, err := a.Registry.Key(task)
		if err != nil {
			t.Fatal(err)
		}
		made, err := a.Rebuild(t.Context(), "step.computes.x", key, task, RebuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r := made.Made; r.Env["step: card"] != want || r.Used.Card != want {
			t.Errorf("%s: card %q, used %+v", name, r.Env["step: card"], r.Used)
		}
	}
}
