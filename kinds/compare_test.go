package kinds_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
)

// compareReport is what the tests look at.
type compareReport struct {
	Systems map[string]struct {
		Percent map[string]float64
		Against map[string]map[string]struct {
			Difference, Low, High float64
			P                     float64
			Corrected             float64 `json:"p_corrected"`
			Significant           bool
			EffectSize            *float64 `json:"effect_size"`
			Wins, Ties, Losses    int
		}
	}
	Claims map[string]struct {
		A, B, Difference, Low, High, P float64
		Corrected                      float64 `json:"p_corrected"`
		Wins, Ties, Losses             int
		Verdict                        string
	}
	Method      string
	Queries     int
	Comparisons int
	Samples     int
}

// comparePipeline scores three runs of twelve queries: "good" finds each document first,
// "half" finds it second, "bad" third in nine of them.
const comparePipeline = `
locals { systems = toset(["good", "half", "bad"]) }
step "download" "f" { urls = ["good.run", "half.run", "bad.run", "q.qrels"] }
step "import_run" "s" {
  for_each = local.systems
  files    = step.download.f.files
  file     = "${each.key}.run"
}
step "import_qrels" "s" {
  files = step.download.f.files
  file  = "q.qrels"
}
step "score" "s" {
  for_each = local.systems
  run      = step.import_run.s[each.key].run
  qrels    = step.import_qrels.s.qrels
  measures = ["MRR@10", "Hits@1"]
  %[2]s
}
step "compare" "s" {
  systems   = { for s in local.systems : s => step.score.s[s].queries }
  baselines = ["half", "bad"]
  %[1]s
}
`

func writeSystems(t *testing.T, dir string) {
	t.Helper()
	runs := map[string]*strings.Builder{"good": {}, "half": {}, "bad": {}}
	qrels := ""
	for q := range 12 {
		qrels += fmt.Sprintf("q%d 0 d 1\n", q)
		for name, rank := range map[string]int{"good": 1, "half": 2, "bad": 2 + min(1, q/3)} {
			for r := 1; r <= 3; r++ {
				d := fmt.Sprint("x", r)
				if r == rank {
					d = "d"
				}
				fmt.Fprintf(runs[name], "q%d Q0 %s %d %d t\n", q, d, r, -r)
			}
		}
	}
	for name, b := range runs {
		write(t, dir, name+".run", b.String())
	}
	write(t, dir, "q.qrels", qrels)
}

// TestCompare by hand: good has 100, half 50, bad 37.5.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	writeSystems(t, dir)
	l := newLocal(t)
	var r compareReport
	compare := func(more string) {
		t.Helper()
		r = compareReport{}
		l.json(l.outputs(ownPipeline(t, dir, fmt.Sprintf(comparePipeline, more, "")), nil)["step.compare.s.report"], &r)
	}
	compare(`measures = ["RR@10"]
  test = "permutation"`)
	c := r.Systems["half"].Against["bad"]["mrr_10"]
	if math.Abs(c.Difference-12.5) > 1e-9 || c.Wins != 9 || c.Ties != 3 || c.Losses != 0 {
		t.Errorf("%+v", c)
	}
	if want := 2.0 / 512; math.Abs(c.P-want) > 1e-12 { // nine signs of which two are as far
		t.Errorf("p %v, want %v", c.P, want)
	}
	if p := 2.0 / 4096; r.Systems["good"].Against["half"]["mrr_10"].P != p || r.Systems["good"].Against["half"]["mrr_10"].Corrected != 3*p {
		t.Errorf("good %+v", r.Systems["good"])
	}
	if !c.Significant || c.Corrected != c.P || r.Comparisons != 3 || r.Queries != 12 || r.Samples != 0 {
		t.Errorf("%+v", r)
	}
	back := r.Systems["bad"].Against["half"]["mrr_10"]
	if back.Difference != -c.Difference || back.Low != -c.High || back.Wins != 0 || back.Losses != 9 || back.P != c.P || *back.EffectSize != -*c.EffectSize {
		t.Errorf("the other way %+v, of %+v", back, c)
	}
	if len(r.Systems["bad"].Against) != 1 || len(r.Systems["good"].Against) != 2 || r.Systems["good"].Percent["mrr_10"] != 100 {
		t.Errorf("%+v", r.Systems)
	}
	if r.Method != "paired randomization test, Holm correction for 3 comparisons" {
		t.Errorf("method %q", r.Method)
	}
	compare(`measures = ["RR@10"]
  correction = "bonferroni"
  test = "bootstrap"
  samples = 1000`)
	if c := r.Systems["good"].Against["bad"]["mrr_10"]; c.P != 1./1001 || c.Corrected != 3./1001 || r.Samples != 1000 {
		t.Errorf("%+v", c)
	}
	compare(`measures = ["RR@10"]
  correction = "tukey_hsd"`)
	if c := r.Systems["good"].Against["bad"]["mrr_10"]; c.Corrected != c.P || !c.Significant || r.Method != "Tukey HSD of 3 systems with queries as blocks" {
		t.Errorf("%+v %q", c, r.Method)
	}
	compare(`family = "all"
  measures = ["MRR@10", "Hits@1"]`)
	if c := r.Systems["half"].Against["bad"]["hits_1"]; c.P != 1 || c.Significant || r.Comparisons != 6 {
		t.Errorf("%+v", c)
	}
}

// TestClaims by hand: half has 50 at every query, bad 37.5 with nine queries of twelve below
// half's.
func TestClaims(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSystems(t, dir)
	const claims = `measures = ["MRR@10"]
  claims = {
    for name, c in {
      right = ["half", "bad", "above", 0]
      wrong = ["half", "bad", "below", 0]
      equal = ["half", "half", "above", 0]
      close = ["half", "half", "near", 1]
      wide  = ["good", "bad", "near", 1]
      about = ["half", "bad", "near", 12.5]
    } : name => { a = c[0], b = c[1], measure = "RR@10", claim = c[2], margin = c[3] }
  }`
	text := strings.Replace(fmt.Sprintf(comparePipeline, claims, ""), `baselines = ["half", "bad"]`, "", 1)
	l := newLocal(t)
	var r compareReport
	l.json(l.outputs(ownPipeline(t, dir, text), nil)["step.compare.s.report"], &r)
	for name, want := range map[string]string{
		"right": "holds", "wrong": "reversed", "equal": "cannot be told at this size", "close": "holds", "wide": "reversed", "about": "cannot be told at this size",
	} {
		if got := r.Claims[name]; got.Verdict != want {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
	right := r.Claims["right"]
	if math.Abs(right.Difference-12.5) > 1e-9 || right.A != 50 || math.Abs(right.B-37.5) > 1e-9 || right.Wins != 9 || right.Ties != 3 || right.Low <= 0 || right.High <= right.Difference {
		t.Errorf("%+v", right)
	}
	// Of six, close and wide are certain: the p of right is the third, and counts for four.
	if math.Abs(right.Corrected-4*right.P) > 1e-12 || r.Claims["close"].P != 0 || r.Method != "paired t-test, Holm correction for 6 comparisons" || r.Queries != 12 || r.Comparisons != 6 {
		t.Errorf("%+v, %q", right, r.Method)
	}

	bad := strings.NewReplacer(`right = [`, `"a'.b" = [`, `"near", 12.5`, `"near", 0`, `["good", "bad"`, `["best", "bad"`, `"RR@10"`, `"RR@5"`, `["MRR@10"]`, "[\"MRR@10\"]\n  test = \"wilcoxon\"").Replace(text)
	_, ds := pipeline.Load(map[string][]byte{"bad.hcl": []byte(bad)}, pipeline.Options{Registry: l.Registry})
	for _, want := range []string{"a name without '.", "is for near, which needs one above 0", `"best" is not one of the systems [bad good half]`, `"RR@5" is not one of measures`, "claims are judged by t, not by wilcoxon"} {
		if !ds.HasErrors() || !strings.Contains(strings.Join(strings.Fields(ds.Err().Error()), " "), want) {
			t.Errorf("%q is not in %v", want, ds.Err())
		}
	}
}

// TestCompareErrors: other queries and measures that are not there.
func TestCompareErrors(t *testing.T) {
	dir := t.TempDir()
	writeSystems(t, dir)
	newLocal(t).fails(ownPipeline(t, dir, fmt.Sprintf(comparePipeline, `measures = ["P@5"]`, "")), "system bad was not scored by P@5, but by [MRR@10 Hits@1]")
	write(t, dir, "good.run", "q1 Q0 d 1 1 t\n")
	newLocal(t).fails(ownPipeline(t, dir, fmt.Sprintf(comparePipeline, `measures = ["RR@10"]`, `missing = "leave_out"`)), `good lacks 11 of bad ("q0", "q10", "q11" and 8 more). Score all with the same qrels`)
}

const significanceTable = `
  test     = "permutation"
  measures = ["RR@10", "Hits@1"]
}
table "t" {
  caption = "Three systems."
  stubs   = ["", "System"]
  columns = [
    { id = "h1", title = "Hits@1", format = "fixed", decimals = 1, field = "percent.hits_1" },
    { id = "mrr", title = "MRR@10", format = "fixed", decimals = 1, field = "percent.mrr_10", best = "max" },
  ]
  rows = [for s in ["bad", "half", "good"] : { id = s, titles = ["", "<i>${s}</i>"], value = step.score.s[s].report }]
  significance = {
    report  = step.compare.s.report
    rows    = { for s in local.systems : s => s }
    columns = { mrr = %q, h1 = "hits_1" }
    letters = { half = "a", %s = "b" }
  }
`

// TestSignificanceInTables: cells have the letters of the baselines that they differ from,
// in every format but CSV, and the caption says by what test.
func TestSignificanceInTables(t *testing.T) {
	dir := t.TempDir()
	writeSystems(t, dir)
	l := newLocal(t)
	out := l.outputs(ownPipeline(t, dir, fmt.Sprintf(comparePipeline, fmt.Sprintf(significanceTable, "mrr_10", "bad"), "")), nil)
	for output, want := range map[string][]string{
		"markdown": {
			"Three systems. <sup>a</sup> differs significantly from *half*, <sup>b</sup> from *bad* (paired randomization test, Holm correction for 3 comparisons, alpha 0.05).",
			"| *bad*  |                   0.0 |            37.5<sup>a</sup> |",
			"| *half* |                   0.0 |            50.0<sup>b</sup> |",
			"| *good* | 100.0<sup>ab</sup> | **100.0**<sup>ab</sup> |",
		},
		"latex": {
			`\caption{Three systems. \textsuperscript{a} differs significantly from \emph{half}, \textsuperscript{b} from \emph{bad} (paired`,
			`\textbf{100.0}\textsuperscript{ab}`, `37.5\textsuperscript{a}`,
		},
		"csv":  {"half,0,50\n", "good,100,100\n"},
		"json": {`"marks": "ab"`, `"caption": "Three systems. <sup>a</sup>`},
	} {
		text := string(l.bytes(out["table.t."+output]))
		for _, w := range want {
			if squeezed(w) != "" && !strings.Contains(squeezed(text), squeezed(w)) {
				t.Errorf("%s has no %q:\n%s", output, w, text)
			}
		}
	}
}

// TestBoldBySignificance: what does not differ significantly from the best is bold, too, and the best of the rest is second;
// each two of the systems must be compared. Of bad with 37.5, half with 50 and good with 100, half and bad have p = 0.0039.
func TestBoldBySignificance(t *testing.T) {
	dir := t.TempDir()
	writeSystems(t, dir)
	l := newLocal(t)
	table := fmt.Sprintf(comparePipeline, `
  measures   = ["RR@10"]
  alpha      = 0.001
  correction = "none"
  test       = "permutation"
}
table "t" {
  notes   = ["<sup>*</sup> All of it."]
  lacks   = 1
  stubs   = ["System"]
  columns = [{ id = "mrr", title = "MRR@10", format = "fixed", decimals = 1, field = "percent.mrr_10", best = "min", second = true, align = "decimal" }]
  rows    = [for s in ["bad", "half", "good"] : { id = s, titles = [s], value = step.score.s[s].report, marks = s == "good" ? { mrr = "*" } : {} }]
  significance = {
    report  = step.compare.s.report
    rows    = { for s in local.systems : s => s }
    columns = { mrr = "mrr_10" }
    bold    = true
  }
`, "")
	out := l.outputs(ownPipeline(t, dir, table), nil)
	for output, want := range map[string]string{
		"markdown": "| bad | **37.5** | | half | **50.0** | | good | <ins>100.0</ins><sup>\\*</sup> | - <sup>\\*</sup> All of it.",
		"latex":    `\caption{\textbf{Incomplete: 1 step failed and left out.} Bold does not differ significantly from the best (paired randomization test, no correction, alpha 0.001).}`,
		"csv":      "System,MRR@10 bad,37.5 half,50 good,100",
		"json":     `"lacks": 1`,
	} {
		if text := squeezed(string(l.bytes(out["table.t."+output]))); !strings.Contains(text, want) {
			t.Errorf("%s has no %q:\n%s", output, want, text)
		}
	}
	for of, to := range map[string][2]string{
		`does not compare half with good: name one of them in baselines`: {`["half", "bad"]`, `["bad"]`},
		"significance.bold: none of its columns has best":                {`best = "min", second = true`, `best = ""`},
		"needs at least one, without bold":                               {"bold    = true", ""},
	} {
		refused(t, strings.Replace(table, to[0], to[1], 1), of)
	}
}

// squeezed has one blank for many: columns are padded.
func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestScoresExample runs examples/scores: a query that a system does not rank counts 0.
func TestScoresExample(t *testing.T) {
	l := newLocal(t)
	out := l.outputs("../examples/scores/pipelines.hcl", nil)
	if text := string(l.bytes(out["table.systems.markdown"])); !strings.Contains(text, "| Generated ids |") || !strings.Contains(text, "<sup>ab</sup> |") {
		t.Errorf("the table is\n%s", text)
	}
	var report struct {
		Queries        int
		MissingQueries int `json:"missing_queries"`
	}
	if l.json(out[`step.score.system["generated"].report`], &report); report.Queries != 24 || report.MissingQueries != 1 {
		t.Errorf("%+v", report)
	}
}
