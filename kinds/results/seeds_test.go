package results

import (
	"fmt"
	"math"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func close12(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

// observation is a run with its value.
type observation struct {
	effectsRun
	value float64
}

func observed(group, level, other string, seed int, value float64) observation {
	return observation{effectsRun{Group: group, Level: level, Other: other, Seed: seed}, value}
}

func effectsOf(list []observation, from, to string) (effectsReport, error) {
	c, of := effectsConfig{From: from, To: to}, []float64(nil)
	for _, o := range list {
		c.Runs, of = append(c.Runs, o.effectsRun), append(of, o.value)
	}
	return c.effects(of)
}

// design is two groups, two levels of either factor and three seeds.
func design() []observation {
	var out []observation
	add := func(group, level, other string, values ...float64) {
		for i, v := range values {
			out = append(out, observed(group, level, other, 42+i, v))
		}
	}
	add("atomic", "nci", "title", 10, 11, 12)
	add("atomic", "html", "title", 11, 13, 12)
	add("atomic", "nci", "pageid", 20, 20, 20)
	add("atomic", "html", "pageid", 20, 21, 24)
	add("naive", "nci", "title", 5, 5, 5)
	add("naive", "html", "title", 4, 6, 5)
	add("naive", "nci", "pageid", 7, 7, 7)
	add("naive", "html", "pageid", 8, 8, 7)
	add("naive", "simple", "pageid", 99)
	return out
}

// TestPairedEffects: atomic differs by 1, 2, 0 under title and 0, 1, 4 under pageid,
// so by 0.5, 1.5, 2 per seed; naive by -1, 1, 0 and 1, 1, 0, so by 0, 1, 0; both by
// 0.25, 1.25, 1.
func TestPairedEffects(t *testing.T) {
	e := testkit.Value(effectsOf(design(), "nci", "html"))(t)
	for _, want := range []struct {
		group     string
		mean, std float64
	}{
		{"atomic", 4. / 3, math.Sqrt(((0.5-4./3)*(0.5-4./3) + (1.5-4./3)*(1.5-4./3) + (2-4./3)*(2-4./3)) / 2)},
		{"naive", 1. / 3, math.Sqrt((1./9 + 4./9 + 1./9) / 2)},
	} {
		if g := e.Groups[want.group]; !close12(g.Mean, want.mean) || !close12(g.Std, want.std) || g.N != 3 {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	mean := 2.5 / 3
	std := math.Sqrt(((0.25-mean)*(0.25-mean) + (1.25-mean)*(1.25-mean) + (1-mean)*(1-mean)) / 2)
	if !close12(e.Global.Mean, mean) || !close12(e.Global.Std, std) || e.Global.N != 3 {
		t.Errorf("global %+v, want %v ± %v", e.Global, mean, std)
	}
	back, err := effectsOf(design(), "html", "nci")
	if err != nil || !close12(back.Global.Mean, -mean) || !close12(back.Global.Std, std) {
		t.Errorf("the other way %+v, %v", back, err)
	}
}

// TestPaperEffects: the differences of the means in tab:representation-grouping-seeds
// are the means in tab:representation-grouping-effects, to their two digits.
func TestPaperEffects(t *testing.T) {
	table := map[string][4]float64{ // Title NciNorm, Title HtmlNorm, PageID NciNorm, PageID HtmlNorm
		"Atomic": {62.09, 62.54, 63.25, 63.49}, "Naive": {46.53, 46.86, 47.52, 47.76}, "Semantic": {47.12, 48.09, 48.72, 48.77},
	}
	var byText, byPage []observation
	for _, id := range []string{"Atomic", "Naive", "Semantic"} {
		for i, v := range table[id] {
			text, page := []string{"NciNorm", "HtmlNorm"}[i%2], []string{"Title", "PageID"}[i/2]
			byText = append(byText, observed(id, text, page, 42, v))
			byPage = append(byPage, observed(id, page, text, 42, v))
		}
	}
	check := func(observations []observation, from, to string, want ...float64) {
		e := testkit.Value(effectsOf(observations, from, to))(t)
		got := []float64{e.Groups["Atomic"].Mean, e.Groups["Naive"].Mean, e.Groups["Semantic"].Mean, e.Global.Mean}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 0.0101 { // both sides are rounded
				t.Errorf("%s - %s: %.4f, want %v", to, from, got, want)
				break
			}
		}
	}
	check(byText, "NciNorm", "HtmlNorm", 0.34, 0.29, 0.51, 0.38)
	check(byPage, "Title", "PageID", 1.06, 0.94, 1.14, 1.05)
}

func TestPairedEffectsErrors(t *testing.T) {
	complete := design()
	for i, o := range complete {
		if o.Level == "simple" {
			continue
		}
		want := fmt.Sprintf("%s, %s, %s, seed %d has no value", o.Group, o.Level, o.Other, o.Seed)
		without := append(append([]observation{}, complete[:i]...), complete[i+1:]...)
		testkit.ErrSays(t, testkit.Err(effectsOf(without, "nci", "html")), want)
	}
	testkit.ErrSays(t, testkit.Err(effectsOf(append(complete, complete[0]), "nci", "html")), "atomic, nci, title, seed 42 has two values")
	for _, levels := range [][2]string{{"nci", "nci"}, {"x", "y"}} {
		testkit.ErrSays(t, testkit.Err(effectsOf(complete, levels[0], levels[1])), "no values to compare")
	}
}
