package view

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/journal"
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
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
