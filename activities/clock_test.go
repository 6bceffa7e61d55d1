package activities

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/step"
)

// TestAlike: what a result tells of its run may differ, and nothing else.
func TestAlike(t *testing.T) {
	a := &Activities{Store: mem.New()}
	spec := &step.Spec{Clock: map[string][]string{"report": {"seconds", "threads"}, "events": nil}}
	blob := func(text string) artifacts.Artifact {
		d, n, err := a.Store.Blobs.Put(context.Background(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return artifacts.Artifact{Digest: d, Size: n}
	}
	result := func(model, report, events string) map[string]artifacts.Artifact {
		return map[string]artifacts.Artifact{"model": blob(model), "report": blob(report), "events": blob(events)}
	}
	first := result("weights", `{"best": 0.5, "seconds": 3, "points": [{"seconds": 1, "loss": 2}]}`, "at noon")
	for name, c := range map[string]struct {
		other map[string]artifacts.Artifact
		same  bool
		clock []string
	}{
		"equal":           {first, true, nil},
		"another time":    {result("weights", `{"best": 0.5, "seconds": 4, "points": [{"seconds": 2, "loss": 2}]}`, "at one"), true, []string{"events", "report"}},
		"another number":  {result("weights", `{"best": 0.6, "seconds": 3, "points": [{"seconds": 1, "loss": 2}]}`, "at noon"), false, nil},
		"other weights":   {result("heavier", `{"best": 0.5, "seconds": 4, "points": [{"seconds": 1, "loss": 2}]}`, "at noon"), false, []string{"report"}},
		"an output less":  {map[string]artifacts.Artifact{"model": first["model"], "report": first["report"]}, false, nil},
		"one of new name": {map[string]artifacts.Artifact{"model": first["model"], "report": first["report"], "event": first["events"]}, false, nil},
	} {
		same, clock, err := a.alike(context.Background(), spec, first, c.other)
		if err != nil || same != c.same || !slices.Equal(clock, c.clock) {
			t.Errorf("%s: %v %v, %v", name, same, clock, err)
		}
	}
}
