package publish

import (
	"errors"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestChoose: a large file that readers cannot fetch takes its step with it, and what reads
// that has to run; files of tables are published whatever their size.
func TestChoose(t *testing.T) {
	s := mem.New()
	pl := &plan.Plan{}
	v := &plan.Preview{Plan: pl}
	for i, name := range []string{"step.command.big", "step.command.small", "table.t", "table.of_big"} {
		text := "short"
		if name != "step.command.small" {
			text = "long enough to be left out, of " + name
		}
		r := storetest.NewResult(t, s, name, map[string]string{"out": text})
		pl.Steps = append(pl.Steps, plan.Step{Address: name})
		v.Items = append(v.Items, plan.Item{Outcome: plan.Hit, Key: r.Key, Result: &r})
		if i == 3 {
			pl.Steps[i].Deps = []int{0}
		}
	}
	for _, incomplete := range []bool{false, true} {
		pub, err := begin(pl, Options{Folder: t.TempDir(), Over: 10, Limit: "10B", Incomplete: incomplete})
		testkit.None(t, err)
		testkit.None(t, pub.choose(t.Context(), artifacts.Alone(s), v))
		if len(pub.Left) != 1 || pub.Left[0].Step != "step.command.big" || strings.Join(pub.Must, " ") != "step.command.big table.of_big" || len(pub.keys) != 3 || pub.publishes(0) || !pub.publishes(2) {
			t.Errorf("%+v", pub)
		}
		if err := pub.check(v, ""); (err == nil) != incomplete || err != nil && !strings.Contains(err.Error(), "1 file over 10B") {
			t.Errorf("incomplete %t: %v", incomplete, err)
		}
	}
	v.Items = make([]plan.Item, len(pl.Steps))
	pub, err := begin(pl, Options{Folder: t.TempDir(), Incomplete: true})
	testkit.None(t, err)
	if err := errors.Join(pub.choose(t.Context(), artifacts.Alone(s), v), pub.check(v, "redsi run")); err == nil || err.Error() != "nothing to publish has a result: redsi run" {
		t.Error(err)
	}
}
