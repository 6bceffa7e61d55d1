package kinds_test

import (
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

// TestDirections by hand: good has 100, half 50 at every query, bad 37.5 with nine queries of
// twelve below half's.
func TestDirections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSystems(t, dir)
	scored, _, _ := strings.Cut(comparePipeline, `step "compare"`)
	text := strings.Replace(scored, "%[2]s", "", 1) + `
step "directions" "s" {
  pairs = {
    for name, p in {
      right = ["half", "bad", "above", 0]
      wrong = ["half", "bad", "below", 0]
      equal = ["half", "half", "above", 0]
      close = ["half", "half", "near", 1]
      wide  = ["good", "bad", "near", 1]
      about = ["half", "bad", "near", 12.5]
    } : name => { a = step.score.s[p[0]].queries, b = step.score.s[p[1]].queries, measure = "MRR@10", claim = p[2], margin = p[3] }
  }
}
`
	l := newLocal(t)
	var r struct {
		Pairs map[string]struct {
			A, B, Difference, Low, High, P float64
			Corrected                      float64 `json:"p_corrected"`
			Queries, Wins, Ties, Losses    int
			Verdict                        string
		}
		Method string
	}
	l.json(l.outputs(ownPipeline(t, dir, text), nil)["step.directions.s.report"], &r)
	for name, want := range map[string]string{
		"right": "holds", "wrong": "reversed", "equal": "cannot be told at this size", "close": "holds", "wide": "reversed", "about": "cannot be told at this size",
	} {
		if got := r.Pairs[name]; got.Verdict != want || got.Queries != 12 {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
	right := r.Pairs["right"]
	if math.Abs(right.Difference-12.5) > 1e-9 || right.A != 50 || math.Abs(right.B-37.5) > 1e-9 || right.Wins != 9 || right.Ties != 3 || right.Low <= 0 || right.High <= right.Difference {
		t.Errorf("%+v", right)
	}
	// Of six, close and wide are certain: the p of right is the third, and counts for four.
	if math.Abs(right.Corrected-4*right.P) > 1e-12 || r.Pairs["close"].P != 0 || !strings.HasPrefix(r.Method, "paired t-tests, Holm correction for 6") {
		t.Errorf("%+v, %q", right, r.Method)
	}

	bad := strings.NewReplacer(`right = [`, `"a'.b" = [`, `"near", 12.5`, `"near", 0`).Replace(text)
	_, ds := pipeline.Load(map[string][]byte{"bad.hcl": []byte(bad)}, pipeline.Options{Registry: l.Registry})
	for _, want := range []string{"a name without '.", "is for near, which needs one above 0"} {
		if !ds.HasErrors() || !strings.Contains(ds.Err().Error(), want) {
			t.Errorf("%q is not in %v", want, ds.Err())
		}
	}
}
