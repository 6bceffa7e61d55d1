package inout

import (
	"log/slog"
	"testing"

	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/step"
)

// TestTelling: what holds a step up is said beside how far it is, until it goes on.
func TestTelling(t *testing.T) {
	var last step.Progress

	progress, log := Telling(step.NewIO(t.Context(), &step.Spec{}, &stepio.Host{Progress: func(p step.Progress) { last = p }}, slog.New(slog.DiscardHandler), nil), "bytes", "a.gz")
	for _, c := range []struct {
		do   func()
		want step.Progress
	}{
		{func() { progress(1, 3) }, step.Progress{Done: 1, Total: 3, Unit: "bytes", Note: "a.gz"}},
		{func() { log("out of reach", "err", "none") }, step.Progress{Done: 1, Total: 3, Unit: "bytes", Note: "a.gz: out of reach"}},
		{func() { progress(2, 3) }, step.Progress{Done: 2, Total: 3, Unit: "bytes", Note: "a.gz"}},
	} {
		if c.do(); last != c.want {
			t.Errorf("%+v, want %+v", last, c.want)
		}
	}
}
