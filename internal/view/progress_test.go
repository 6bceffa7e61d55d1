package view

import (
	"testing"
	"time"

	"github.com/redsi/redsi/step"
)

func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		name    string
		p       step.Progress
		elapsed time.Duration
		want    string
	}{
		{"nothing known", step.Progress{}, time.Minute, ""},
		{"no total", step.Progress{Done: 12, Unit: "records"}, time.Minute, "12 records"},
		{"bytes", step.Progress{Done: 500_000, Total: 2_000_000, Unit: "bytes", Note: "a.gz"}, time.Minute, " 25 %  500 kB of 2.0 MB, 3 min 0 s left  a.gz"},
		{"too early to tell", step.Progress{Done: 1, Total: 4, Unit: "steps"}, time.Second, " 25 %  1 of 4 steps"},
		{"the step knows better", step.Progress{Done: 300, Total: 400, Unit: "steps", LeftS: 150, Note: "loss 1"}, 10 * time.Second, " 75 %  300 of 400 steps, 2 min 30 s left  loss 1"},
		{"a note alone", step.Progress{Note: "attempt 2, after: disk full"}, time.Minute, "attempt 2, after: disk full"},
	} {
		if got := Progress(tt.p, tt.elapsed); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
