package kinds_test

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/testkit"
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
locals {
  runs    = ["good", "half", "bad"]
  systems = toset(local.runs)
}
step "score" "s" {
  for_each = local.systems
  run      = step.import_run.f[each.key].run
  qrels    = step.import_qrels.f.qrels
  measures = ["MRR@10", "Hits@1"]
  %[2]s
}
step "compare" "s" {
  systems   = { for s in local.systems : s => step.score.s[s].queries }
  baselines = ["half", "bad"]
  %[1]s
}
` + importedRuns

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
	c, good := r.Systems["half"].Against["bad"]["mrr_10"], r.Systems["good"].Against["half"]["mrr_10"]
	const p = 2.0 / 512 // nine signs of which two are as far
	if math.Abs(c.Difference-12.5) > 1e-9 || c.Wins != 9 || c.Ties != 3 || c.Losses != 0 || math.Abs(c.P-p) > 1e-12 || !c.Significant || c.Corrected != c.P {
		t.Errorf("%+v", c)
	}
	if good.P != p/8 || good.Corrected != 3*p/8 || r.Comparisons != 3 || r.Queries != 12 || r.Samples != 0 || r.Method != "paired randomization test, Holm correction for 3 comparisons" {
		t.Errorf("%+v", r)
	}
	back := r.Systems["bad"].Against["half"]["mrr_10"]
	if back.Difference != -c.Difference || back.Low != -c.High || back.Wins != 0 || back.Losses != 9 || back.P != c.P || *back.EffectSize != -*c.EffectSize {
		t.Errorf("the other way %+v, of %+v", back, c)
	}
	if len(r.Systems["bad"].Against) != 1 || len(r.Systems["good"].Against) != 2 || r.Systems["good"].Percent["mrr_10"] != 100 {
		t.Errorf("%+v", r.Systems)
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
	text := string(l.bytes(out["table.systems.markdown"]))
	testkit.Says(t, text, "| Generated ids |", "<sup>ab</sup> |")
	l.says(out[`step.score.system["generated"].report`], map[string]any{"queries": 24., "missing_queries": 1.})
}

// writeAll writes files by name.
func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		write(t, dir, name, text)
	}
}

const foreignNames = `
step "download" "c" { urls = ["corpus.jsonl"] }
step "download" "q" { urls = ["queries.jsonl"] }
step "download" "j" { urls = ["test.tsv"] }
step "download" "r" { urls = ["r.json"] }
step "import_corpus" "c" {
  documents  = [step.download.c.files]
  queries    = [step.download.q.files]
  test_qrels = [step.download.j.files]
}
step "bm25" "b" {
  corpus  = step.import_corpus.c.corpus
  queries = step.import_corpus.c.queries
  split   = "test"
}
step "export_run" "e" {
  runs      = { bm25 = step.bm25.b.run }
  qrels     = step.import_corpus.c.test_qrels
  documents = step.import_corpus.c.documents
  queries   = step.import_corpus.c.queries
}
step "export" "e" {
  documents = step.import_corpus.c.documents
  queries   = step.import_corpus.c.queries
  corpus    = step.import_corpus.c.corpus
  formats   = ["trec", "beir", "parquet"]
  ids       = "key"
  name      = "x"
  key       = "exact"
  form      = "content"
  origin    = "other"
  %s
}
step "import_run" "json" {
  files = step.download.r.files
  order = "%s"
}
step "export_run" "json" { runs = { json = step.import_run.json.run } }
`

// TestForeignNames: files for others have one spelling of a name, its own but for white space of
// ASCII, in runs, TREC's and BEIR's judgments; what was changed is counted.
func TestForeignNames(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"corpus.jsonl":  `{"_id":"enwiki:A%20b","title":"","text":"red fox"}` + "\n" + `{"_id":"with blank","title":"","text":"blue whale"}` + "\n" + `{"_id":"wide\u3000\"x\"","title":"","text":"green"}` + "\n",
		"queries.jsonl": `{"_id":"q%201","text":"fox"}` + "\n" + `{"_id":"q2","text":"whale"}` + "\n" + `{"_id":"#3","text":"green"}` + "\n",
		"test.tsv":      "query-id\tcorpus-id\tscore\nq%201\tenwiki:A%20b\t1\nq2\twith blank\t1\n#3\twide\u3000\"x\"\t1\n",
		"r.json":        `{"q%202": {"with blank": 1.0, "enwiki:A%20b": 5.0}}`,
	})
	l := newLocal(t)
	all := l.results(ownPipeline(t, dir, fmt.Sprintf(foreignNames, "", "trec_eval")), nil)
	text := func(step, file string) string {
		t.Helper()
		return l.text(fileOf(t, all["step."+step].Outputs["files"], file))
	}
	write(t, dir, "beir.tsv", text("export.e", "beir/qrels/test.tsv"))
	beir := l.outputs(ownPipeline(t, dir, "step \"download\" \"d\" { urls = [\"beir.tsv\"] }\nstep \"import_qrels\" \"b\" { files = step.download.d.files }\n"), nil)["step.import_qrels.b.qrels"]
	const wantQrels = "q%201 0 enwiki:A%20b 1\nq2 0 with_blank 1\n_3 0 wide\u3000\"x\" 1\n"
	for _, got := range []string{text("export_run.e", "qrels.txt"), text("export.e", "trec/qrels.test.txt"), strings.ReplaceAll(string(l.bytes(beir)), "%25", "%")} {
		testkit.Is(t, strings.ReplaceAll(got, "%E3%80%80", "\u3000"), wantQrels, "judgments", got)
	}
	for _, line := range []string{"q%201 Q0 enwiki:A%20b 1 ", "q2 Q0 with_blank 1 ", "_3 Q0 wide\u3000\"x\" 1 "} {
		testkit.Says(t, text("export_run.e", "bm25.run"), line)
	}
	for _, step := range []string{"export_run.e", "export.e"} {
		l.counted(all["step."+step], map[string]int64{"names_changed": 2})
	}
	if got := text("export_run.json", "json.run"); got != "q%202 Q0 enwiki:A%20b 1 5 json\nq%202 Q0 with_blank 2 1 json\n" {
		t.Errorf("without a collection %s", got)
	}
	card := text("export.e", "README.md")
	if strings.Contains(card, "language:") || !strings.Contains(card, "In 2 names, white space and control characters are `_`") {
		t.Error(card)
	}
	rows, err := parquet.ReadFile[struct {
		ID   string `parquet:"id"`
		Test *int32 `parquet:"test,optional"`
	}](l.file(t, text("export.e", "parquet/documents.parquet")))
	if err != nil || len(rows) != 3 || rows[0].Test == nil || *rows[0].Test != 1 || rows[1].ID != "with_blank" {
		t.Errorf("%+v, %v", rows, err)
	}
	all = l.results(ownPipeline(t, dir, fmt.Sprintf(foreignNames, `language = "de"`, "trec_eval")), nil, "step.export.e")
	if card := text("export.e", "README.md"); !strings.HasPrefix(card, "---\nlanguage:\n- de\n") {
		t.Error(card)
	}
	l.fails(ownPipeline(t, dir, fmt.Sprintf(foreignNames, "", "rank")), `r.json: JSON has no ranks, by which order = "rank" orders`)
	writeAll(t, dir, map[string]string{
		"corpus.jsonl": `{"_id":"with_blank","text":"red fox"}` + "\n" + `{"_id":"with blank","text":"blue whale"}` + "\n",
		"test.tsv":     "query-id\tcorpus-id\tscore\nq2\twith blank\t1\n",
	})
	l.fails(ownPipeline(t, dir, fmt.Sprintf(foreignNames, "", "trec_eval")), `is named "with_blank" outside redsi`)
}

// file is a file with the text.
func (l *local) file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	testkit.Write(t, path, text)
	return path
}

const argumentsPipeline = `
step "download" "d" {
  urls  = ["corpus.jsonl", "queries.jsonl", "test.tsv"]
  names = ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"]
}
step "import_corpus" "c" { files = step.download.d.files }
locals {
  c       = step.import_corpus.c
  ignored = { ignore_identical_ids = true, documents = local.c.documents }
}
step "bm25" "b" {
  for_each             = toset(["0", "1"])
  corpus               = local.c.corpus
  queries              = local.c.queries
  split                = "test"
  depth                = 2
  ignore_identical_ids = each.key == "1"
  documents            = each.key == "1" ? local.c.documents : null
}
step "export_run" "b" {
  runs      = { b = step.bm25.b["0"].run }
  documents = local.c.documents
  queries   = local.c.queries
}
step "import_run" "b" {
  files                = step.export_run.b.files
  documents            = local.c.documents
  queries              = local.c.queries
  ignore_identical_ids = true
}
step "score" "at_once" {
  run                  = step.bm25.b["0"].run
  qrels                = local.c.test_qrels
  ignore_identical_ids = true
  documents            = local.c.documents
  queries              = local.c.queries
}
step "score" "s" {
  for_each = { plain = step.bm25.b["0"].run, bm25 = step.bm25.b["1"].run, imported = step.import_run.b.run }
  run      = each.value
  qrels    = local.c.test_qrels
}
`

// TestIgnoreIdenticalIDs: a query that is a document of the collection does not find itself, by
// whichever kind leaves it out.
func TestIgnoreIdenticalIDs(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, map[string]string{
		"corpus.jsonl": `{"_id": "arg-1a", "title": "", "text": "harbours should ban night dredging because it wakes the herring"}
{"_id": "arg-1b", "title": "", "text": "night dredging is cheaper and the herring get used to it"}
{"_id": "arg-2a", "title": "", "text": "lighthouses need no keepers any more"}
{"_id": "arg-2b", "title": "", "text": "keepers of lighthouses save ships where lamps fail"}
{"_id": "1", "title": "", "text": "bread is baked at night"}
`,
		"queries.jsonl": `{"_id": "arg-1a", "text": "harbours should ban night dredging because it wakes the herring"}
{"_id": "arg-2a", "text": "lighthouses need no keepers any more"}
`,
		"test.tsv": "query-id\tcorpus-id\tscore\narg-1a\targ-1b\t1\narg-2a\targ-2b\t1\n",
	})
	l := newLocal(t)
	all := l.results(ownPipeline(t, dir, argumentsPipeline), nil)
	for name, want := range map[string]float64{`s["plain"]`: 50, `s["bm25"]`: 100, `s["imported"]`: 100, "at_once": 100} {
		l.says(all["step.score."+name].Outputs["report"], map[string]any{"percent.mrr_10": want})
	}
	for step, want := range map[string]any{`bm25.b["0"]`: nil, `bm25.b["1"]`: 2., "import_run.b": 2., `score.s["plain"]`: nil, "score.at_once": 2.} {
		l.says(all["step."+step].Outputs["report"], map[string]any{"identical_documents": want})
	}
	if got := string(l.bytes(all[`step.bm25.b["1"]`].Outputs["run"])); strings.Count(got, "0 Q0 ") != 2 { // depth of them, without its own
		t.Errorf("run %s", got)
	}

	// dense: of two queries one has the name of its best document.
	queries := l.lines([]dedup.Query{{ExampleID: 4, Split: nq.Dev, Name: "b", Question: "x", Doc: 0}, {ExampleID: 1, Split: nq.Dev, Name: "z", Question: "y", Doc: 0}})
	config := map[string]any{"queries": queries, "depth": int64(1), "embeddings": l.blob("docid/embeddings", npyFile("<f4", 2, 1, []float32{1, 2})), "query_embeddings": l.blob("docid/embeddings", npyFile("<f4", 2, 1, []float32{1, 1}))}
	run, report, err := l.ranked("dense", config)
	if err != nil || !maps.Equal(run, map[string]string{"4": "1", "1": "1"}) || report["identical_documents"] != nil {
		t.Errorf("%v %v %v", run, report, err)
	}
	config["ignore_identical_ids"], config["documents"] = true, l.collectionOf("a", "b")
	run, report, err = l.ranked("dense", config)
	if err != nil || !maps.Equal(run, map[string]string{"4": "0", "1": "1"}) || report["identical_documents"] != 1. || report["hits"] != 2. {
		t.Errorf("%v %v %v", run, report, err)
	}
	delete(config, "documents")
	mistakes(t, "dense", config, map[string]map[string]any{"goes with ignore_identical_ids": nil})
}
