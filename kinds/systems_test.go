package kinds_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestSystemsExample: all systems of the example train and are evaluated end to end, those of
// generated queries on these.
func TestSystemsExample(t *testing.T) {
	l := newLocal(t)
	tensor.SetNumThreads(1)
	file := filepath.Join("..", "examples", "systems.hcl")
	vars := map[string]string{"queries": "60", "steps": "2"}
	// As they are those whose identifiers begin where T5's tokens end, and all with fewer tokens.
	l.run(l.plan(file, vars, `step.evaluate.systems["atomic"]`, `step.evaluate.systems["residual"]`))
	src, err := syntax.Read(file)
	errtest.None(t, err)
	text := string(src[file])
	for was, is := range map[string]string{
		`"../assets/tokenizers/t5-tokenizer.json.gz"`: strconv.Quote(fewerTokens(t, 3000)),
		"step \"random_t5\" \"model\" {\n":            "$0vocabulary = 3072\n",
		"step \"atomic_ids\" \"documents\" {\n":       "$0first_token = 3000\n",
		"step \"residual_ids\" \"documents\" {\n":     "$0first_token = 3072\n",
	} {
		if strings.Count(text, was) != 1 {
			t.Fatalf("the example has not one %q", was)
		}
		text = strings.Replace(text, was, strings.Replace(is, "$0", was, 1), 1)
	}
	src[file] = []byte(text)
	pl := l.planOf(file, l.load(src, vars))
	results := l.run(pl)
	rows := 0
	for i, s := range pl.Steps {
		switch {
		case s.Task.Kind == "evaluate":
			var e struct {
				Percent struct {
					PostFiltered struct {
						Hits10 float64 `json:"hits_10"`
					} `json:"post_filtered"`
				}
				Queries, Width int
				Seen           int `json:"seen_queries"`
			}
			l.json(results[i].Outputs["report"], &e)
			if e.Queries == 0 || e.Seen == 0 || e.Seen == e.Queries || e.Width != 10 || !(e.Percent.PostFiltered.Hits10 >= 0 && e.Percent.PostFiltered.Hits10 <= 100) {
				t.Errorf("%s: %+v", s.Address, e)
			}
			rows++
		case strings.HasPrefix(s.Address, "step.train.systems"):
			var r trained
			l.json(results[i].Outputs["report"], &r)
			own := !strings.Contains(s.Address, "dsi_qg")
			if r.Steps != 2 || (r.Indexing == 0) || own == strings.Contains(string(s.Task.Config), "generate_queries") {
				t.Errorf("%s: %+v, %s", s.Address, r, s.Task.Config)
			}
		case s.Address == "table.systems":
			var table struct{ Rows []json.RawMessage }
			l.json(results[i].Outputs["json"], &table)
			if len(table.Rows) != 8 {
				t.Errorf("%d rows", len(table.Rows))
			}
		}
	}
	if rows != 8 {
		t.Errorf("%d systems", rows)
	}
}
