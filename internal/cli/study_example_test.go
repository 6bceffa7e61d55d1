package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPostgreSQLExample: the study runs at scale quick, whole where there is libtorch and
// with its models, and its baselines score what docs/studies.md says.
func TestPostgreSQLExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &paper{t: t, out: filepath.Join(dir, "results"),
		args: []string{"-f", example(filepath.Join("postgresql", "pipelines.hcl")), "--state", filepath.Join(dir, "state")}}
	verb := []string{"run", "--quiet", "--out", p.out}
	baselines := map[string]float64{"bm25": 57.3, "bm25_expanded": 59.7}
	p.run(verb...)
	for name, want := range baselines {
		var report struct {
			Queries int
			Percent map[string]float64
		}
		p.artifact(&report, `step.score.manual["`+name+`"].report`)
		if got := report.Percent["ndcg_10"]; report.Queries != 376 || got < want-0.05 || got > want+0.05 {
			t.Errorf("%s: %d queries, nDCG@10 %.2f, want %.1f", name, report.Queries, got, want)
		}
	}
	b, err := os.ReadFile(filepath.Join(p.out, "tables", "systems.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(b, &table); err != nil || len(table.Rows) != 9 {
		t.Errorf("%d rows, %v", len(table.Rows), err)
	}
}

// TestPostgreSQLExampleAtFullScale: what it trains is what the documentation names, from the
// files of the encoder that it was measured with.
func TestPostgreSQLExampleAtFullScale(t *testing.T) {
	t.Parallel()
	p := &paper{t: t, args: []string{"-f", example(filepath.Join("postgresql", "pipelines.hcl")), "--state", t.TempDir(), "--var", "scale=full"}}
	var got planned
	p.json(&got, "plan", "--json")
	var trained []string
	for _, s := range got.Steps {
		if s.Kind == "train" {
			trained = append(trained, strings.TrimSuffix(strings.TrimPrefix(s.Address, `step.train.manual["`), `"]`))
		}
	}
	slices.Sort(trained)
	if want := []string{"atomic", "dsi_qg", "naive", "said", "semantic", "title"}; !slices.Equal(trained, want) {
		t.Errorf("trains %v, want %v", trained, want)
	}
}
