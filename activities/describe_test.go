package activities

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

type curveFields struct {
	Points []struct{ Loss float64 }
}

type sumFields struct{ Best float64 }

// Of what a step left its page shows some numbers: those of the report that sums up, before
// those of a curve.
func TestDescribe(t *testing.T) {
	kind := step.Define(step.Kind[struct{}]{Name: "fit", Version: 1, Doc: "Fits.", Run: func(context.Context, *step.IO, struct{}) error { return nil }, Outputs: []step.Output{
		{Name: "curve", Type: "curve", Fields: step.FieldsOf[curveFields]()}, {Name: "report", Type: "report", Fields: step.FieldsOf[sumFields]()}, {Name: "model", Type: "model"},
	}})
	a := &Activities{Store: mem.New(), Registry: step.NewRegistry(kind), Log: slog.New(slog.DiscardHandler)}
	put := func(text string) artifacts.Artifact {
		d, n, err := a.Store.Blobs.Put(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return artifacts.Artifact{Type: "x", Digest: d, Size: n}
	}
	curve := `{"points":[` + strings.Repeat(`{"loss":0.5},`, 50) + `{"loss":0.25}]}`
	preimage := []byte(`{"kind":"fit"}`)
	r := artifacts.Result{Key: artifacts.KeyOf(preimage), Preimage: preimage, Finished: time.Now(), Origin: artifacts.Origin{RunID: "a", Step: `step.fit.x["1"]`},
		Counts: map[string]int64{"examples": 12_345}, Used: &artifacts.Used{CPU: 2, CPUOf: artifacts.CPUOfStep, Read: 7},
		Outputs: map[string]artifacts.Artifact{"curve": put(curve), "report": put(`{"best":0.75,"name":"no number"}`), "model": put("[7]")}}
	if _, _, err := artifacts.Publish(t.Context(), a.Store, r); err != nil {
		t.Fatal(err)
	}
	text, err := a.Describe(t.Context(), workflows.DescribeRequest{Kind: "fit", Key: r.Key})
	if err != nil {
		t.Fatal(err)
	}
	metrics := fmt.Sprintf("**Metrics**\n\n| field | value |\n|---|---|\n| `report.best` | 0.75 |\n%s| … | |\n", func() (rows string) {
		for i := range pageRows - 1 {
			rows += fmt.Sprintf("| `curve.points.%d.loss` | 0.5 |\n", i)
		}
		return rows
	}())
	for _, want := range []string{"Made by run `a` as `step.fit.x[\"1\"]`", "| `examples` | 12,345 |", "**Used**\n\n| what | value |\n|---|---|\n| processor time | 2.0 s |\n| read | 7 B of inputs |\n", "| `model` | `x` | 3\u00a0B | `" + r.Outputs["model"].Digest.Hex() + "` |", metrics} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text, err := a.Describe(t.Context(), workflows.DescribeRequest{Kind: "fit", Key: artifacts.Sum([]byte("another"))}); err != nil || text != "" {
		t.Errorf("of no result: %q, %v", text, err)
	}
}
