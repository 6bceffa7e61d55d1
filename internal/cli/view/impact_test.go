package view

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func changed() *impact.Report {
	hour := 3600.
	cost := impact.Cost{Steps: 3, Unknown: 1, P50: 2 * hour, P90: 2.5 * hour, GPU: 1.5, Bytes: 3e6, Unsized: 1, Download: 5e9, Unfetched: 1}
	return &impact.Report{
		Format: impact.Format, A: "main (0123456789ab)", B: "the files here", Notes: []string{"data/x is not in main (0123456789ab), so the file here was read"},
		Steps: impact.Counts{Same: 10, Run: 1, Maybe: 1, New: 1, Hit: 1, Cut: 1, Gone: 1, Anyway: 2}, Cost: cost,
		Causes: []impact.Cause{
			{Block: "step.train.dsi", Path: "config.lr", Old: "1", New: "2", Text: "config.lr: 1 -> 2", Where: "pipelines.hcl:12", Steps: 2, Moves: cost},
			{Path: "version", Text: "kind render_table: version 5 -> 6", Steps: 1, Moves: impact.Cost{Steps: 1, Unknown: 1, Unsized: 1}},
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

func TestImpact(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer){
		"impact.txt": func(b *bytes.Buffer) { Impact(b, changed(), Style{}, true) },
		"impact.md":  func(b *bytes.Buffer) { ImpactMarkdown(b, changed()) },
		"none.md": func(b *bytes.Buffer) {
			ImpactMarkdown(b, &impact.Report{A: "main", B: "HEAD", Steps: impact.Counts{Same: 3}})
		},
	} {
		var b bytes.Buffer
		write(&b)
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s is now\n%s", name, b.String())
		}
		if strings.ContainsRune(b.String(), '\x1b') {
			t.Errorf("%s obeys the pipeline's text", name)
		}
	}
}
