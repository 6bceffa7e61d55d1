package kinds_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
)

// TestGrid runs the example of a grid with few updates: the model whose development value
// is highest is the one, and the only one, that is asked the test queries, and the table has
// its numbers beside its name.
func TestGrid(t *testing.T) {
	l := newLocal(t)
	pl := l.plan(filepath.Join("..", "examples", "grid.hcl"), map[string]string{"steps": "2"})
	var best chosen
	models := map[string]artifacts.Digest{}
	dev := map[string]float64{}
	made := map[string]*artifacts.Result{}
	for i, res := range l.run(pl) {
		made[pl.Steps[i].Address] = res
		name, ok := strings.CutPrefix(pl.Steps[i].Address, "step.train.grid[")
		if !ok {
			continue
		}
		var r trained
		l.json(res.Outputs["report"], &r)
		name = strings.Trim(name, `"]`)
		models[name], dev[name] = res.Outputs["model"].Digest, r.Metrics["MRR@10"]
	}
	l.json(made["step.best_model.grid"].Outputs["report"], &best)
	if len(dev) != 4 || len(best.Values) != 4 {
		t.Fatalf("%d trainings, %d candidates", len(dev), len(best.Values))
	}
	for name, v := range dev {
		if best.Values[name] != v || v > best.Value {
			t.Errorf("%s has %v, the report says %v; the best has %v", name, v, best.Values[name], best.Value)
		}
	}
	if got := made["step.best_model.grid"].Outputs["model"].Digest; best.Value != dev[best.Chosen] || got != models[best.Chosen] {
		t.Errorf("chosen is %s with %v, and the model %s", best.Chosen, best.Value, got)
	}
	var test struct {
		Percent struct {
			PostFiltered map[string]float64 `json:"post_filtered"`
		}
	}
	l.json(made["step.evaluate.test"].Outputs["report"], &test)
	var table struct {
		Rows []struct {
			Cells map[string]struct {
				Text  string
				Value *float64
			}
		}
	}
	l.json(made["table.test"].Outputs["json"], &table)
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != 4 {
		t.Fatalf("%+v", table)
	}
	cells := table.Rows[0].Cells
	if mrr := cells["mrr_10"].Value; cells["chosen"].Text != best.Chosen || mrr == nil || *mrr != test.Percent.PostFiltered["mrr_10"] {
		t.Errorf("the table has %+v; chosen is %s with %v", cells, best.Chosen, test.Percent.PostFiltered)
	}
}
