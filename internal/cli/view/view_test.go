package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	charm "github.com/charmbracelet/log"
	"github.com/charmbracelet/x/ansi"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

func changed() *impact.Report {
	hour := 3600.
	cost := estimate.Cost{Steps: 3, Unknown: 1, P50: 2 * hour, P90: 2.5 * hour, GPU: 1.5, Bytes: 3e6, Unsized: 1, Download: 5e9, Unfetched: 1}
	return &impact.Report{
		Format: impact.Format, A: "main (0123456789ab)", B: "the files here", Notes: []string{"data/x is not in main (0123456789ab), so the file here was read"},
		Steps: impact.Counts{Same: 10, Run: 1, Maybe: 1, New: 1, Hit: 1, Cut: 1, Gone: 1, Anyway: 2}, Cost: cost,
		Causes: []impact.Cause{
			{Block: "step.train.dsi", Path: "config.lr", Old: "1", New: "2", Text: "config.lr: 1 -> 2", Where: "pipelines.hcl:12", Steps: 2, Moves: cost},
			{Path: "version", Text: "kind render_table: version 5 -> 6", Steps: 1, Moves: estimate.Cost{Steps: 1, Unknown: 1, Unsized: 1}},
			{Block: "table.x", Path: "config.caption", Text: "config.caption: \"<a|b>\" -> \"*c* @all `d`\nx\x1b[31m\"", Where: "a|b`c.hcl:3", Steps: 1},
		},
		Tables: []impact.Table{
			{Address: `table.x["a|b"]`, Before: plan.Hit, After: plan.Maybe, Counts: impact.Counts{Same: 3, Run: 1, Maybe: 1}, Cost: cost, Claims: 1},
			{Address: "figure.old", Before: plan.Hit, Counts: impact.Counts{Gone: 1}},
		},
		Claims: []impact.Claim{{Table: "table.x", Text: "Atomic_ids <win> at [Base](http://x)."}},
		Each: []impact.Change{
			{Address: `step.train.dsi["a"]`, Before: plan.Hit, After: plan.Run, Charged: true, Causes: []int{0}, Expect: &hour},
			{Address: "table.x", Before: plan.Run, Stood: true, After: plan.Maybe, Charged: true, Causes: []int{0, 1}},
			{Address: "step.copy.new", After: plan.Run, Charged: true, Causes: []int{2}},
			{Address: "figure.old", Before: plan.Hit},
		},
	}
}

// planned is a plan and what is known of it.
func planned() (*plan.Preview, PlanFacts) {
	v := &plan.Preview{
		Plan: &plan.Plan{
			Steps:   []plan.Step{{Address: "step.words.a"}, {Address: `step.train.dsi["a|b"]`, Queue: "gpu"}, {Address: `step.train.dsi["c"]`, Queue: "gpu"}, {Address: "table.x"}},
			Skipped: []pipeline.Skipped{{Address: "table.y", Why: "Only <full> has it."}},
		},
		Items: []plan.Item{{Outcome: plan.Hit, Took: time.Minute, Rare: &plan.Snags{Fails: []string{"rows == 3: 4"}}}, {Outcome: plan.Run}, {Outcome: plan.Run}, {Outcome: plan.Maybe, Rare: &plan.Snags{Waits: []int{1, 2}}}},
	}
	h := estimate.History{Samples: map[int][]estimate.Sample{1: {{Took: time.Hour, Bytes: 3e6}}}, Downloads: map[int]estimate.Download{2: {Bytes: 5e9, Sources: 2, Unknown: 1}}}
	return v, PlanFacts{Estimate: estimate.Of(v, h), Why: map[int]string{1: "config.caption: \"<a|b>\" -> \"*c* @all\nx\x1b[31m\"", 2: "has never run here"},
		Failed: map[int]journal.Failed{2: {Remembered: runs.Remembered{Failure: runs.Failure{Error: "out of <memory>", Ended: time.Now()}, Times: 2}}}, Unfit: map[int]string{1: "step.train.dsi wants 2 GPUs, and this machine has 0"}, Free: -1}
}

// TestLongComment: what a comment says is bounded, and its end is there, however long the
// pipeline's texts are.
func TestLongComment(t *testing.T) {
	long := strings.Repeat("|", 9000)
	v, f := &plan.Preview{Plan: &plan.Plan{}}, PlanFacts{Why: map[int]string{}}
	r := &impact.Report{}
	for i := range 5000 {
		v.Plan.Steps = append(v.Plan.Steps, plan.Step{Address: fmt.Sprintf("step.train.b%d", i)})
		v.Items = append(v.Items, plan.Item{Outcome: plan.Run})
		v.Plan.Skipped = append(v.Plan.Skipped, pipeline.Skipped{Address: "table.x", Why: long})
		f.Why[i] = long
		r.Each = append(r.Each, impact.Change{Address: "step.x"})
		r.Tables = append(r.Tables, impact.Table{Address: "table.x"})
		r.Notes = append(r.Notes, long)
	}
	f.Estimate = estimate.Of(v, estimate.History{})
	for what, write := range map[string]func(*bytes.Buffer) error{
		"plan": func(b *bytes.Buffer) error { return PlanMarkdown(b, v, f, errors.New(strings.Repeat(long+"\n", 90))) },
		"diff": func(b *bytes.Buffer) error { return ImpactMarkdown(b, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || b.Len() > 65536/2 || b.Len() < 10_000 {
			t.Errorf("%s: %d bytes, %v", what, b.Len(), err)
		}
		if !strings.Contains(b.String(), "\n</details>\n") || !strings.Contains(b.String(), "5000 steps") {
			t.Errorf("%s has no end:\n%.300s", what, b.String())
		}
	}
}

func TestMarkdown(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer){
		"impact.txt": func(b *bytes.Buffer) { Impact(b, changed(), Style{}, true) },
		"impact.md":  func(b *bytes.Buffer) { ImpactMarkdown(b, changed()) },
		"plan.md": func(b *bytes.Buffer) {
			v, f := planned()
			PlanMarkdown(b, v, f, errors.New("step.fit: python3 is not there\n  <install> it"))
		},
		"none.md": func(b *bytes.Buffer) {
			ImpactMarkdown(b, &impact.Report{A: "main", B: "HEAD", Steps: impact.Counts{Same: 3}})
		},
	} {
		var b bytes.Buffer
		write(&b)
		goldens.Same(t, filepath.Join("testdata", name), b.String())
		if strings.ContainsRune(b.String(), '\x1b') {
			t.Errorf("%s obeys the pipeline's text", name)
		}
	}
}

func TestCost(t *testing.T) {
	if text := Cost(&estimate.Estimate{Cost: estimate.Cost{Steps: 1, Bytes: 5}}); !strings.Contains(text, "5 B\n") {
		t.Error(text) // nothing is unknown
	}
	text := Cost(&estimate.Estimate{Cost: estimate.Cost{Steps: 12, Unknown: 2, P50: 5 * 3600, P90: 7 * 3600, GPU: 4, Bytes: 4e9, Unsized: 2, Download: 3e9, Sources: 5, Unfetched: 1}, GPUSteps: 3})
	for _, want := range []string{"12 steps", "5 h 0 min; 7 h 0 min", "4 h 0 min of it", "2 steps without history", "3.0 GB from 4 sources, 1 source of unknown size", "4.0 GB"} {
		testkit.Says(t, text, want)
	}
}

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
		testkit.Is(t, Progress(tt.p, tt.elapsed), tt.want, tt.name)
	}
}

// TestHitsTogether: many steps that turn out to be done at once are one line.
func TestHitsTogether(t *testing.T) {
	var b bytes.Buffer
	l := NewLive(NewScreen(&b), Style{}, 0)
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
			NewLive(NewScreen(&b), Style{Color: color}, width).Update(workflows.State{Steps: steps}, nil, "waiting for 東京", time.Unix(9, 0))
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
		NewLive(NewScreen(&b), Style{}, width).Update(s, work, "waiting for the store", now)
		testkit.Is(t, "\n"+b.String(), want, width)
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
		l := NewLive(NewScreen(&b), Style{}, width)
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
	l := NewLive(NewScreen(&b), Style{}, 0)
	s := workflows.State{Steps: []workflows.StepState{{Address: "step.a", Status: runs.Queued}, {Address: "step.b", Status: runs.Waiting}}}
	now := time.Unix(100, 0)
	l.Update(s, nil, "waiting for a worker", now)
	l.Update(s, nil, "waiting for a worker", now.Add(14*time.Second))
	l.Update(s, nil, "", now.Add(16*time.Second))
	s.Steps[0].Status = runs.Running
	l.Update(s, map[string]drive.Work{"step.a": {Began: now.Add(15 * time.Second)}}, "", now.Add(17*time.Second))
	want := "waiting for a worker\n0 running, 1 queued, 1 to do of 2\nRUN    step.a  \n"
	testkit.Is(t, b.String(), want)
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
	testkit.Is(t, b.String(), want)
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
	testkit.Is(t, strings.ReplaceAll(b.String(), "  \n", "\n"), want)
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
	testkit.Is(t, b.String(), want)
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestEventsWithoutReader(t *testing.T) {
	gone := 0
	e := NewEvents(closed{}, 80, func() { gone++ })
	e.Update(workflows.State{}, nil, "", time.Unix(9, 0))
	testkit.Is(t, gone, 1, "the end of the reader was noticed times")
}

// nasty is text that takes a terminal over: it writes the clipboard, clears the
// screen in seven and in eight bits, turns the writing, and forges a line.
const nasty = "a\x1b]52;c;YWJj\a\x9b2J\u009b2J\u202eb\u2066\x7f\rc\nDONE   step.forged\x00"

// harmless checks what is printed without colour.
func harmless(t *testing.T, what, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsFunc(line, escape.Unsafe) || strings.ToValidUTF8(line, "") != line {
			t.Errorf("%s prints %q", what, line)
		}
		if strings.HasPrefix(line, "DONE   step.forged") {
			t.Errorf("%s prints a forged line: %q", what, out)
		}
	}
	if !strings.Contains(out, `\x1b]52;c;`) {
		t.Errorf("%s does not show what there is: %q", what, out)
	}
}

func TestPrintedIsHarmless(t *testing.T) {
	type named string
	steps := []workflows.StepState{
		{Address: nasty, Status: runs.Running},
		{Address: nasty + "2", Status: runs.Failed, Error: nasty},
		{Address: nasty + "3", Status: runs.Ran, TookS: 1},
		{Address: nasty + "4", Status: runs.Skipped, Error: nasty}}
	for what, show := range map[string]func(b *bytes.Buffer){
		"Printf": func(b *bytes.Buffer) {
			Printf(b, "%s %v %s %-20s %s %v\n", nasty, named(nasty), Lines(nasty), nasty, []string{nasty}, struct{ A string }{nasty})
		},
		"Printf of a change": func(b *bytes.Buffer) { Printf(b, "%s\n", step.Change{Path: nasty, Old: nasty, New: nasty}) },
		"Println":            func(b *bytes.Buffer) { Println(b, "redsi:", nasty, errors.New(nasty)) },
		"Style": func(b *bytes.Buffer) {
			var st Style
			Println(b, st.Dim(nasty), st.Bold(nasty), st.Outcome("hit", nasty), st.DimLines(nasty))
		},
		"Copy": func(b *bytes.Buffer) { Copy(b, strings.NewReader("\n "+strings.ReplaceAll(nasty, "\n", "")), true) },
		"Live": func(b *bytes.Buffer) {
			l := NewLive(NewScreen(b), Style{}, 0)
			now := time.Unix(0, 0)
			l.Update(workflows.State{Steps: steps}, nil, "", now)
			for i := range 3 {
				l.Update(workflows.State{Steps: steps}, map[string]drive.Work{nasty: {Progress: step.Progress{Done: 1, Note: nasty, Unit: nasty}}}, nasty, now.Add(time.Duration(i)*time.Minute))
			}
		},
		"the block of Live": func(b *bytes.Buffer) {
			l := NewLive(NewScreen(b), Style{}, 80)
			l.Update(workflows.State{Steps: steps[:1]}, map[string]drive.Work{nasty: {Progress: step.Progress{Note: nasty}}}, nasty, time.Unix(9, 0))
		},
		"Plan": func(b *bytes.Buffer) {
			v := &plan.Preview{Plan: &plan.Plan{Steps: []plan.Step{{Address: nasty}, {Address: nasty}}},
				Items: []plan.Item{{Outcome: plan.Run}, {Outcome: plan.Maybe, Rare: &plan.Snags{Waits: []int{0}}}}}
			f := PlanFacts{Store: nasty, Estimate: estimate.Of(v, estimate.History{}), Why: map[int]string{0: nasty}, Free: -1}
			for _, st := range []PlanStyle{{All: true}, {Verbose: true}, {ByTable: true}} {
				Plan(b, v, st, f)
			}
			printGroups(b, Style{}, blockRows(v, f))
		},
		"Trace": func(b *bytes.Buffer) {
			Trace(b, &report.Trace{Address: nasty, Cell: nasty, Text: nasty, Sources: []report.Source{{Step: nasty, Output: nasty}},
				Steps: []report.Node{{Address: nasty, Config: []report.Leaf{{Path: nasty, Value: nasty}}, Counts: map[string]int64{nasty: 1},
					Notes: map[string]string{nasty: nasty}, Inputs: []report.Edge{{Path: nasty}},
					Rebuilt: &attest.Told{Summary: attest.Summary{People: 1, Signed: attest.Verdicts{Same: 1}}, List: []attest.Shown{{By: nasty, Machine: nasty,
						Verdict: nasty, When: nasty, Worst: &alike.Difference{Output: nasty, File: nasty, Path: nasty, Stands: nasty, Made: nasty, What: nasty}}}}}}})
		},
		"Log": func(b *bytes.Buffer) {
			log := slog.New(Log(charm.New(b)))
			log.With(nasty, nasty).WithGroup(nasty).Error(nasty, "err", fmt.Errorf("%w: %s", os.ErrNotExist, nasty), slog.Group(nasty, "k", nasty))
		},
	} {
		var b bytes.Buffer
		show(&b)
		harmless(t, what, b.String())
	}
}

// Colours are ours alone.
func TestColour(t *testing.T) {
	var b bytes.Buffer
	Printf(&b, "%s\n", Style{Color: true}.Bold("a\x1b[31mb"))
	if got, want := b.String(), "\x1b[1ma\\x1b[31mb\x1b[0m\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What programs read is exact: bytes that are copied, and the value of JSON.
func TestExact(t *testing.T) {
	var b bytes.Buffer
	if err := Copy(&b, strings.NewReader(nasty), false); err != nil || b.String() != nasty {
		t.Errorf("copied as %q, %v", b.String(), err)
	}
	b.Reset()
	valid := strings.ToValidUTF8(nasty, "")
	testkit.None(t, WriteJSON(&b, map[string]string{valid: valid}))
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back[valid] != valid {
		t.Errorf("%q, %v", back, err)
	}
	harmless(t, "WriteJSON", strings.ReplaceAll(b.String(), `\u001b`, `\x1b`))
}

func TestWriteJSONLists(t *testing.T) {
	type inner struct {
		Names []string `json:"names"`
	}
	type outer struct {
		inner                  // no field that can be set
		In    inner            `json:"in"`
		At    *inner           `json:"at"`
		Nil   *inner           `json:"nil"`
		Any   any              `json:"any"`
		Left  []inner          `json:"left,omitempty"`
		Zero  []inner          `json:"zero,omitzero"`
		Some  []inner          `json:"some"`
		By    map[string]inner `json:"by"`
		Raw   json.RawMessage  `json:"raw"`
	}
	for want, v := range map[string]any{
		"[]":                   []string(nil),
		"null":                 nil,
		"12345678901234567890": json.Number("12345678901234567890"), // not a text
		`{"a":[],"b":null,"c":[],"d":{"names":[]},"e":{"x":[]}}`: map[string]any{"a": []string(nil), "b": nil, "c": any([]int(nil)), "d": inner{}, "e": map[string][]int{"x": nil}},
		`{"names":["x"],"in":{"names":[]},"at":{"names":[]},"nil":null,"any":[],"some":[{"names":[]}],"by":{"k":{"names":[]}},"raw":null}`: outer{inner: inner{[]string{"x"}}, At: &inner{},
			Any: []any(nil), Some: []inner{{}}, By: map[string]inner{"k": {}}},
	} {
		var b, tight bytes.Buffer
		testkit.None(t, WriteJSON(&b, v))
		if err := json.Compact(&tight, b.Bytes()); err != nil || tight.String() != want {
			t.Errorf("%s, not %s: %v", tight.String(), want, err)
		}
	}
}

// TestLostInOrder: the same results are named each time.
func TestLostInOrder(t *testing.T) {
	done, want := artifacts.Transferred{Lost: map[artifacts.Digest]string{}}, ""
	for i := range lostShown + 2 {
		d := artifacts.Digest{byte(i)}
		if done.Lost[d] = "gone"; i < lostShown {
			want += d.Short() + " could not be copied: gone\n"
		}
	}
	var out bytes.Buffer
	if Transferred(&out, &artifacts.Transfer{}, done); !strings.HasSuffix(out.String(), want+"and 2 more could not be copied; --json lists all\n") {
		t.Errorf("%s, want %s", &out, want)
	}
}

// TestCollectedOpen: a copy that holds what has arrived is not called a run.
func TestCollectedOpen(t *testing.T) {
	var b bytes.Buffer
	hint := func(verb string, args ...string) string { return verb + " " + strings.Join(args, " ") }
	Collected(&b, artifacts.Garbage{Open: []artifacts.OpenRun{{RunID: "push-0123456789ab", Since: time.Now()}}}, artifacts.GCOptions{}, hint)
	if text := b.String(); !strings.HasPrefix(text, "the run or copy push-0123456789ab is at work, or ") || !strings.Contains(text, "release it with `gc --forget-run push-0123456789ab`") {
		t.Error(text)
	}
}
