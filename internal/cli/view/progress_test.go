package view

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
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

// TestHitsTogether: many steps that turn out to be done at once are one line.
func TestHitsTogether(t *testing.T) {
	var b bytes.Buffer
	l := NewLive(&b, Style{}, 0)
	state := func(hits int) (s workflows.State) {
		s.Steps = []workflows.StepState{{Address: "step.text.split", Status: runs.Running}}
		for i := range hits {
			s.Steps = append(s.Steps, workflows.StepState{Address: fmt.Sprintf("step.text.piece[%d]", i), Status: runs.Hit})
		}
		return s
	}
	for _, hits := range []int{0, 2, 9} {
		l.Update(state(hits), nil, "", time.Unix(9, 0))
	}
	if got := b.String(); strings.Count(got, "HIT") != 3 || !strings.Contains(got, "HIT    7 steps already done\n") {
		t.Errorf("%s", got)
	}
}

// Lines of the block that are wider than the terminal would wrap, and clearing
// the block would leave some of them behind.
func TestBlockFitsTerminal(t *testing.T) {
	steps := make([]workflows.StepState, 10)
	for i := range steps {
		steps[i] = workflows.StepState{Address: fmt.Sprintf(`step.text["Zürich 東京 👩‍👩‍👧 %d"]`, i), Status: runs.Running}
	}
	for width := 1; width <= 50; width++ {
		for _, color := range []bool{false, true} {
			var b bytes.Buffer
			NewLive(&b, Style{Color: color}, width).Update(workflows.State{Steps: steps}, nil, "waiting for 東京", time.Unix(9, 0))
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

// TestBlockWidths: a narrow terminal shortens names, never numbers; those queued are
// counted; times count from the start of work.
func TestBlockWidths(t *testing.T) {
	now := time.Unix(1000, 0)
	s := workflows.State{Steps: []workflows.StepState{
		{Address: `step.train.dsi["title/nci_norm/tiny/naive/42"]`, Status: runs.Running},
		{Address: "step.download.train", Status: runs.Running},
		{Address: "step.a", Status: runs.Running},
	}}
	for i := range 30 {
		is := runs.Queued
		if i >= 22 {
			is = runs.Waiting
		}
		s.Steps = append(s.Steps, workflows.StepState{Address: fmt.Sprintf("step.b[%d]", i), Status: is})
	}
	work := map[string]drive.Work{
		s.Steps[0].Address: {Began: now.Add(-200 * time.Second), Progress: step.Progress{Done: 600, Total: 1000, Unit: "steps", LeftS: 130, Note: "loss 1.25"}},
		s.Steps[1].Address: {Began: now.Add(-20 * time.Second), Progress: step.Progress{Done: 3_000_000_000, Unit: "bytes"}},
	}
	for width, want := range map[int]string{
		40: `
… step…aive/42"]  60 %, 2 min 10 s left
… step.download.train  20 s  3.0 GB
… step.a  0.0 s
… waiting for the store
3 running, 22 queued, 8 to do of 33
`,
		60: `
… step.train.…i_norm/tiny/naive/42"]  60 %, 2 min 10 s left
… step.download.train  20 s  3.0 GB
… step.a  0.0 s
… waiting for the store
       3 running, 22 queued, 8 to do of 33
`,
		80: `
…      step.train.…nci_norm/tiny/naive/42"]  3 min 20 s   60 %, 2 min 10 s left
…      step.download.train  20 s  3.0 GB
…      step.a  0.0 s
…      waiting for the store
       3 running, 22 queued, 8 to do of 33
`,
		120: `
…      step.train.dsi…title/nci_norm/tiny/naive/42"]  3 min 20 s   60 %  600 of 1,000 steps, 2 min 10 s left  loss 1.25
…      step.download.train  20 s  3.0 GB
…      step.a  0.0 s
…      waiting for the store
       3 running, 22 queued, 8 to do of 33
`,
	} {
		var b bytes.Buffer
		NewLive(&b, Style{}, width).Update(s, work, "waiting for the store", now)
		if got := "\n" + b.String(); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// TestCauses: steps that share a cause are one line.
func TestCauses(t *testing.T) {
	var s workflows.State
	add := func(is runs.Status, why string, names ...string) {
		for _, n := range names {
			s.Steps = append(s.Steps, workflows.StepState{Address: "step." + n, Status: is, Error: why})
		}
	}
	add(runs.Failed, "no space left", "a", "b", "c")
	add(runs.Failed, "exit 3", "d")
	add(runs.Skipped, "needs step.d, which failed", "e", "f")
	add(runs.Skipped, "needs step.a, which failed", "g")
	add(runs.Cancelled, "the run was cancelled", "h", "i")
	add(runs.NotStarted, "the run was cancelled", "j", "k", "l")
	for _, width := range []int{0, 80} {
		var b bytes.Buffer
		l := NewLive(&b, Style{}, width)
		l.Update(s, nil, "", time.Unix(9, 0))
		l.Close()
		want := `FAIL   step.a, step.b, step.c  no space left
FAIL   step.d  exit 3
SKIP   2 steps not started  each needs step.d, which failed
SKIP   step.g  needs step.a, which failed
STOP   step.h, step.i  the run was cancelled
SKIP   3 steps not started  the run was cancelled
`
		if got := b.String(); !strings.Contains(got, want) {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got, want)
		}
	}
}

// TestQueuedIsSilent: without a terminal a step is told when its work begins; a run
// that says nothing for a while says how far it is.
func TestQueuedIsSilent(t *testing.T) {
	var b bytes.Buffer
	l := NewLive(&b, Style{}, 0)
	s := workflows.State{Steps: []workflows.StepState{{Address: "step.a", Status: runs.Queued}, {Address: "step.b", Status: runs.Waiting}}}
	now := time.Unix(100, 0)
	l.Update(s, nil, "waiting for a worker", now)
	l.Update(s, nil, "waiting for a worker", now.Add(14*time.Second))
	l.Update(s, nil, "", now.Add(16*time.Second))
	s.Steps[0].Status = runs.Running
	l.Update(s, map[string]drive.Work{"step.a": {Began: now.Add(15 * time.Second)}}, "", now.Add(17*time.Second))
	want := "waiting for a worker\n0 running, 1 queued, 1 to do of 2\nRUN    step.a  \n"
	if got := b.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestScreen: what others write stands above the block.
func TestScreen(t *testing.T) {
	var b bytes.Buffer
	s := NewScreen(&b)
	s.Show([]Shown{Document("one"), Document("two")})
	Printf(s, "a warning\n")
	Printf(s, "half ")
	Printf(s, "a line\n")
	s.Show(nil)
	up := "\x1b[2A\x1b[J"
	want := "one\ntwo\n" + up + "a warning\none\ntwo\n" + up + "half a line\none\ntwo\n" + up
	if got := b.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A block of a module, too, says how many steps it had last time.
func TestPlanPieces(t *testing.T) {
	v := &plan.Preview{Plan: &plan.Plan{Steps: []plan.Step{{Address: "step.a.b[*]"}, {Address: `module.m["k"].step.a.b[*]`}, {Address: "table.t[*]"}}},
		Items: []plan.Item{{Outcome: plan.Maybe}, {Outcome: plan.Maybe}, {Outcome: plan.Maybe}}}
	var b bytes.Buffer
	printGroups(&b, Style{}, blockRows(v, PlanFacts{Estimate: estimate.Of(v, estimate.History{}), Pieces: map[string]int{"step.a.b[*]": 3, `module.m["k"].step.a.b[*]`: 4, "table.t[*]": 5}}))
	want := `MAYBE  a.b                1 maybe, 3 last time  no history
MAYBE  module.m["k"].a.b  1 maybe, 4 last time  no history
MAYBE  table              1 maybe               no history
`
	if got := strings.ReplaceAll(b.String(), "  \n", "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
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

// TestEvents: a line for each state has what has changed and what a terminal would show; a text cannot forge a line.
func TestEvents(t *testing.T) {
	var b bytes.Buffer
	e := NewEvents(&b, 80, func() { t.Error("the reader is there") })
	now := time.Unix(1000, 0)
	s := workflows.State{Steps: []workflows.StepState{{Address: "step.a", Status: runs.Hit, TookS: 2}, {Address: "step.b", Status: runs.Running}, {Address: "step.c", Status: runs.Waiting}}}
	work := map[string]drive.Work{"step.b": {Began: now.Add(-10 * time.Second), Progress: step.Progress{Done: 1, Total: 4, Unit: "files"}}}
	e.Begun("r1", "http://x/<r1>")
	e.Update(s, work, "a worker", now)
	s.Steps[1] = workflows.StepState{Address: "step.b", Status: runs.Failed, Error: "no\nroom\x1b[2J"}
	s.Steps[2].Status = runs.Skipped
	e.Update(s, nil, "", now)
	e.Say("a\nb")
	want := `{"event":"begun","format":"redsi-progress/1","news":["run r1","Temporal UI: http://x/<r1>"],"run":"r1","url":"http://x/<r1>"}
{"block":["…      step.b  10 s   25 %  1 of 4 files, 30 s left","…      a worker","       1 running, 1 to do of 3"],"counts":{"hit":1,"running":1,"waiting":1},"done":1,"event":"state","format":"redsi-progress/1","news":["HIT    1 step already done"],"steps":[{"i":0,"address":"step.a","status":"hit","key":"","took_s":2},{"i":0,"address":"step.b","status":"running","key":""},{"i":0,"address":"step.c","status":"waiting","key":""}],"total":3}
{"block":["       0 running, 0 to do of 3"],"counts":{"failed":1,"hit":1,"skipped":1},"done":3,"event":"state","format":"redsi-progress/1","news":["FAIL   step.b  no","       room\\x1b[2J","SKIP   step.c  "],"steps":[{"i":0,"address":"step.b","status":"failed","key":"","error":"no\nroom\u001b[2J"},{"i":0,"address":"step.c","status":"skipped","key":""}],"total":3}
{"event":"said","format":"redsi-progress/1","news":["a\\nb"]}
`
	if got := b.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestEventsWithoutReader(t *testing.T) {
	gone := 0
	e := NewEvents(closed{}, 80, func() { gone++ })
	e.Update(workflows.State{}, nil, "", time.Unix(9, 0))
	if gone != 1 {
		t.Errorf("the end of the reader was noticed %d times", gone)
	}
}
