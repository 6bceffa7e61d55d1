package ranking

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestTurned: from the other side differences change their signs, and so does t; W, the smaller
// of two sums, does not.
func TestTurned(t *testing.T) {
	for isT, want := range map[bool]float64{true: -12, false: 12} {
		statistic, d := 12.0, 0.3
		v := comparison{Difference: 1, Low: -1, High: 3, Statistic: &statistic, EffectSize: &d, Wins: 4, Losses: 2}.turned(isT)
		if *v.Statistic != want || *v.EffectSize != -0.3 || v.Difference != -1 || v.Low != -3 || v.High != 1 || v.Wins != 2 || v.Losses != 4 {
			t.Errorf("t %v: %+v, statistic %v, d %v", isT, v, *v.Statistic, *v.EffectSize)
		}
	}
	if v := (comparison{}).turned(true); v.Statistic != nil || v.EffectSize != nil {
		t.Errorf("%+v", v)
	}
}

// TestNamesWithDots: a system may be named as its version is, or the value of its parameter.
func TestNamesWithDots(t *testing.T) {
	c := compareConfig{Systems: map[string]step.Input{"b=0.4": {}, "k.v": {}}, Baselines: []string{"b=0.4"}, Measures: []string{"nDCG@10"}}
	for _, path := range []string{"systems.'k.v'.percent.ndcg_10", "systems.'k.v'.against.'b=0.4'.ndcg_10.difference"} {
		testkit.None(t, testkit.Err(c.declares()["report"].At(path)))
	}
}
