package trec

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// trecOrder ranks a run file as trec_eval does: by score, read as float32, then by name, both descending.
func trecOrder(t *testing.T, run string) map[string][]string {
	t.Helper()
	type line struct {
		name  string
		score float32
	}
	lines := map[string][]line{}
	for l := range strings.Lines(run) {
		f := strings.Fields(l)
		s, err := strconv.ParseFloat(f[4], 64)
		testkit.None(t, err)
		lines[f[0]] = append(lines[f[0]], line{f[2], float32(s)})
	}
	out := map[string][]string{}
	for q, ls := range lines {
		slices.SortStableFunc(ls, func(a, b line) int {
			if a.score != b.score {
				return map[bool]int{true: -1, false: 1}[a.score > b.score]
			}
			return strings.Compare(b.name, a.name)
		})
		for _, l := range ls {
			out[q] = append(out[q], l.name)
		}
	}
	return out
}

func written(t *testing.T, rankings []Ranking) string {
	t.Helper()
	var b bytes.Buffer
	testkit.None(t, WriteRun(&b, "redsi", rankings, EncodeName))
	return b.String()
}

// TestUntie: a run ranks for trec_eval as its rankings do here, ties and scores that
// differ only beyond float32 included; a run without either keeps its bytes.
func TestUntie(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ranking := func(query string, score func(i int) float64) Ranking {
		r := Ranking{Query: query}
		for i := range 40 {
			h := Hypothesis{Document: fmt.Sprintf("d%02d", rng.IntN(100)), Score: score(i)}
			if i%7 == 3 {
				h.Document, h.Text = "", "x"
			}
			r.Hypotheses = append(r.Hypotheses, h)
		}
		return r
	}
	apart := []Ranking{ranking("apart", func(i int) float64 { return -0.1 * float64(i) })}
	if same, moved := Untie(apart); moved != 0 || written(t, same) != written(t, apart) {
		t.Errorf("%d scores of a run without ties were moved", moved)
	}
	tied := []Ranking{
		ranking("equal", func(int) float64 { return -3.25 }),
		ranking("zero", func(int) float64 { return 0 }),
		ranking("beyond float32", func(i int) float64 { return -1 - 1e-12*float64(i) }),
		ranking("in steps", func(i int) float64 { return -float64(i/5) - 1e-9*float64(i%5) }),
		ranking("none", func(i int) float64 { return map[bool]float64{true: -2, false: math.Inf(-1)}[i < 20] }),
		ranking("too low", func(i int) float64 { return -1e300 * float64(i+1) }),
		ranking("infinite", func(i int) float64 { return math.Inf(1) }),
	}
	untied, moved := Untie(tied)
	if moved == 0 || tied[0].Hypotheses[1].Score != -3.25 {
		t.Errorf("%d scores moved; the argument has %v", moved, tied[0].Hypotheses[:2])
	}
	got := trecOrder(t, written(t, untied))
	for _, r := range tied {
		var want []string
		seen := map[string]bool{}
		for i, h := range r.Hypotheses {
			name := h.Document
			if name == "" {
				name = fmt.Sprintf("!%d:x", i+1)
			}
			if seen[name] {
				name = fmt.Sprintf("!%d=%s", i+1, name)
			}
			seen[name] = true
			want = append(want, name)
		}
		if name := EncodeName(r.Query); !slices.Equal(got[name], want) {
			t.Errorf("%s: trec_eval has\n%v, we\n%v", r.Query, got[name], want)
		}
	}
	testkit.None(t, testkit.Err(ReadRun(strings.NewReader(written(t, untied)))))
	if _, moved := Untie([]Ranking{{Query: "q", Hypotheses: []Hypothesis{{Document: "a", Score: math.NaN()}}}}); moved != 0 {
		t.Error("a score that is no number became one")
	}
}
