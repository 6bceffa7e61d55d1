package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/redsi/redsi/internal/estimate"
	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
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

// Lines of the block that are wider than the terminal would wrap, and clearing
// the block would leave some of them behind.
func TestBlockFitsTerminal(t *testing.T) {
	steps := make([]workflows.StepState, 10)
	for i := range steps {
		steps[i] = workflows.StepState{Address: fmt.Sprintf(`step.text["Zürich 東京 👩‍👩‍👧 %d"]`, i), Status: workflows.Running}
	}
	for width := 1; width <= 50; width++ {
		for _, color := range []bool{false, true} {
			var b bytes.Buffer
			NewLive(&b, Style{Color: color}, width).Update(workflows.State{Steps: steps}, nil, time.Unix(9, 0))
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if ansi.StringWidth(line) > width || !utf8.ValidString(line) {
					t.Fatalf("%d columns: %q", width, line)
				}
				if color && strings.Count(line, "\x1b[") != 2*strings.Count(line, "\x1b[0m") {
					t.Fatalf("%d columns: the colour is left on: %q", width, line)
				}
			}
		}
	}
}

// Notes stand below each other whatever letters an address has.
func TestPlanAligned(t *testing.T) {
	v := &plan.Preview{Plan: &plan.Plan{Steps: []plan.Step{{Address: "step.a"}, {Address: `step.a["Zürich"]`}, {Address: `step.a["東京"]`}}},
		Items: []plan.Item{{Outcome: plan.Run}, {Outcome: plan.Run}, {Outcome: plan.Run}}}
	var b bytes.Buffer
	Plan(&b, v, PlanStyle{}, PlanFacts{Estimate: estimate.Of(v, estimate.History{}), Why: map[int]string{0: "new", 1: "new", 2: "new"}})
	want := "RUN    step.a            new\nRUN    step.a[\"Zürich\"]  new\nRUN    step.a[\"東京\"]    new\n"
	if got := b.String(); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
