package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// paper runs verbs on the paper's own pipeline at toy scale.
type paper struct {
	t     *testing.T
	kinds *step.Registry // nil: redsi's
	args  []string
	out   string
	got   map[string]string // folder of the outputs of a step that was asked for
	keys  map[string]string // of its result
}

// newPaper lays the paper's pipeline and other files side by side: a folder is
// one pipeline.
func newPaper(t *testing.T, beside ...string) *paper {
	dir := t.TempDir()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	testkit.None(t, err)
	folder := filepath.Join(dir, "pipeline")
	testkit.None(t, os.Mkdir(folder, 0o755))
	testkit.None(t, os.Symlink(filepath.Join(root, "assets"), filepath.Join(folder, "assets")))
	files := paperSources(t)
	for _, f := range beside {
		if files[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files {
		testkit.Write(t, filepath.Join(folder, name), b)
	}
	return &paper{t: t, out: filepath.Join(dir, "results"),
		args: []string{"-f", folder, "--state", filepath.Join(dir, "state"), "--var", "scale=toy"}}
}

func (p *paper) run(verb ...string) []byte {
	p.t.Helper()
	var out, errs bytes.Buffer
	if code := execute(context.Background(), cmp.Or(p.kinds, kinds.Registry()), append(verb, p.args...), &out, &errs, Paper{}); code != fault.CodeOK {
		p.t.Fatalf("redsi %v: exit %d\n%s", verb, code, errs.String())
	}
	return out.Bytes()
}

func (p *paper) json(v any, verb ...string) {
	p.t.Helper()
	testkit.None(p.t, json.Unmarshal(p.run(verb...), v))
}

// output reads STEP.OUTPUT of what has run.
func (p *paper) output(name string) []byte {
	p.t.Helper()
	dot := strings.LastIndexByte(name, '.')
	b, err := os.ReadFile(filepath.Join(p.outputs(name[:dot]), name[dot+1:]))
	testkit.None(p.t, err)
	return b
}

// outputs is a folder with the outputs of a step that has run. The pipeline is loaded once for all steps: to load the paper
// takes longer than to read most of its results.
func (p *paper) outputs(address string) string {
	p.t.Helper()
	if p.keys == nil {
		p.keys, p.got = map[string]string{}, map[string]string{}
		var plan planned
		p.json(&plan, "plan", "--all", "--json")
		for _, s := range plan.Steps {
			p.keys[s.Address] = s.Key
		}
	}
	if p.got[address] == "" {
		p.got[address] = filepath.Join(p.t.TempDir(), "outputs")
		p.run("artifacts", "get", p.keys[address], p.got[address])
	}
	return p.got[address]
}

func (p *paper) artifact(v any, name string) {
	p.t.Helper()
	testkit.None(p.t, json.Unmarshal(p.output(name), v))
}

// eachLine decodes a .jsonl.zst artifact.
func (p *paper) eachLine(name string, tell func(line)) {
	p.t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(p.output(name)))
	testkit.None(p.t, err)
	defer z.Close()
	for d := json.NewDecoder(z); ; {
		var l line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			p.t.Fatalf("%s: %v", name, err)
		}
		tell(l)
	}
}

// at is what JSON has at a path of names; nil if there is nothing.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// has reports whether JSON is what the truth is; an object has at least the fields of the truth.
func has(got, truth any) bool {
	fields, ok := truth.(map[string]any)
	if !ok {
		return truth != nil && reflect.DeepEqual(got, truth)
	}
	for name, want := range fields {
		if !has(at(got, name), want) {
			return false
		}
	}
	return true
}

// truth is the artifact in which the generator tells what it knows by construction.
const truth = `step.synth.nq["toy"].truth`

// any is an artifact whose numbers stay exact.
func (p *paper) any(name string) (v any) {
	p.t.Helper()
	d := json.NewDecoder(bytes.NewReader(p.output(name)))
	d.UseNumber()
	testkit.None(p.t, d.Decode(&v))
	return v
}

// agrees compares an artifact with the truth: GOT = TRUTH are paths in each.
func (p *paper) agrees(t *testing.T, want any, artifact string, fields ...string) (got any) {
	t.Helper()
	got = p.any(artifact)
	for _, f := range fields {
		g, w, _ := strings.Cut(f, " = ")
		if !has(at(got, g), at(want, w)) {
			t.Errorf("%s: %s is %v; the truth is %s: %v", artifact, g, at(got, g), w, at(want, w))
		}
	}
	return got
}

// number is the number at a path.
func number(t *testing.T, v any, path string) int {
	t.Helper()
	n, err := strconv.Atoi(fmt.Sprint(at(v, path)))
	testkit.None(t, err)
	return n
}

// TestPipelineFindsTheTruth runs pipelines.hcl and the examples on the generated
// corpus and compares what they count with what the generator knows.
func TestPipelineFindsTheTruth(t *testing.T) {
	t.Parallel()
	p := newPaper(t, filepath.Join("testdata", "truth.hcl"), example("text_key.hcl"), example("longest_text.hcl"))
	run := []string{"run", "--quiet", "--out", p.out}
	for _, target := range []string{
		"table.dedup_counts", "table.grouping_effects", "table.revision_texts", "table.nq_token_substitutions", "table.nq_format_fields",
		"table.page_id_resolution", "step.compare_formats.train", "step.dedup_diagnostics.nci_h1", "table.text_keys", "step.dedup.texts", "step.dedup.longest",
	} {
		run = append(run, "--target", target)
	}
	p.run(run...)
	want := p.any(truth)
	for name, check := range map[string]func(*testing.T, any){"documents": p.documents, "resolution": p.resolution, "titles": p.titles, "variation": p.variation,
		"substitutions": p.substitutions, "formats": p.formats, "html norm": p.htmlNorm, "scale": p.notComparable, "checklists": p.checklists} {
		t.Run(name, func(t *testing.T) { check(t, want) })
	}
	var plan struct {
		Summary struct{ Hit, Run, Maybe int }
	}
	p.json(&plan, "plan", "--json", "--target", "table.dedup_counts")
	if plan.Summary.Run+plan.Summary.Maybe != 0 || plan.Summary.Hit < 15 {
		t.Errorf("after the run the plan is %+v", plan.Summary)
	}
}

// checklists are filled for the whole paper of which a part has run.
func (p *paper) checklists(t *testing.T, _ any) {
	for list, want := range map[string][]string{
		"acl": {"**This is scale toy: not a reproduction of the paper.**", "step.train.dsi: 144 runs with 5 seeds: 42, 43, 44, 45, 46.", "Search, learning rate: 5e-4, 1e-3.",
			"dataset Natural Questions; licence CC BY-SA 3.0;", "Selection: Checkpoints by development MRR@10.", "| tab:dedup-counts | `redsi run --target table.dedup_counts ",
			"step.extract.dev (1 step): fallbacks 0, records 60, skipped 0."},
		"neurips": {"### 8. Compute", "All work that the store has records of: ", "NVIDIA V100 with 16 GB", "The workflow is the pipeline "},
	} {
		text := string(p.run("report", "--checklist", list))
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q:\n%s", list, w, text)
			}
		}
	}
}

func (p *paper) documents(t *testing.T, want any) {
	keys, _ := at(want, "documents").(map[string]any)
	if len(keys) != 10 {
		t.Fatalf("the truth knows %d keys", len(keys))
	}
	steps := map[string]string{"step.dedup.longest": "page_id"}
	for key := range keys {
		steps[`step.dedup.nq["`+key+`"]`] = key
	}
	for _, key := range []string{"text4k", "text4k_cased"} {
		steps[`step.dedup.texts["`+key+`"]`] = key
	}
	for step, key := range steps {
		p.agrees(t, want, step+".counts", "records = records", "documents = documents."+key, "coverage = coverage."+key)
	}
	p.longest(t)
}

// line is a line of a corpus, or of the queries or documents of a step that merges duplicates.
type line struct {
	Doc       int
	ExampleID int64 `json:"example_id"`
	Text, Key string
}

// longest recomputes which snapshot has the longest text.
func (p *paper) longest(t *testing.T) {
	length := map[int64]int{}
	p.eachLine("step.serialize.simplified_records.corpus", func(doc line) { length[doc.ExampleID] = len([]rune(doc.Text)) })
	best := map[int]int{}
	p.eachLine("step.dedup.longest.queries", func(q line) { best[q.Doc] = max(best[q.Doc], length[q.ExampleID]) })
	p.eachLine("step.dedup.longest.documents", func(doc line) {
		testkit.Is(t, length[doc.ExampleID], best[doc.Doc], doc.Doc)
	})
}

func (p *paper) resolution(t *testing.T, want any) {
	p.agrees(t, want, `step.dedup.nq["page_id"].counts`, "resolution.revisions = revisions.distinct", "resolution.resolved_revisions = revisions.resolved",
		"resolution.unresolved_records = revisions.unresolved_records.union")
	audit := 0
	p.eachLine(`step.dedup.nq["page_id"].unresolved`, func(l line) {
		audit++
		if !strings.HasPrefix(l.Key, "t:") {
			t.Errorf("an unresolved record has the key %q", l.Key)
		}
	})
	if n := number(t, want, "revisions.unresolved_records.union"); audit != n {
		t.Errorf("the audit lists %d records of %d", audit, n)
	}
	p.agrees(t, want, `step.pages.nq["dump"].report`, "pages = stub.pages", "revisions = stub.revisions", "redirects = stub.redirects")
}

func (p *paper) titles(t *testing.T, want any) {
	for key, step := range map[string]string{"title": "nq", "nci_h1": "nci_h1"} {
		of := " = titles." + key
		got := p.agrees(t, want, "step.dedup_diagnostics."+step+".report", "fragmented_pages"+of+".fragmented", "colliding_keys"+of+".collisions",
			"colliding_pages"+of+".colliding_pages", "affected.train.queries"+of+".affected_train", "affected.dev.queries"+of+".affected_dev",
			"coverage = coverage."+key, "reference_coverage = coverage.page_id")
		queries := func(key string) int { return number(t, want, "coverage."+key+".train_queries") }
		if n := queries("page_id") - queries(key); number(t, got, "additional_queries") != n {
			t.Errorf("%s: %v additional queries, the truth is %d", key, at(got, "additional_queries"), n)
		}
		if list, _ := at(got, "fragments").([]any); len(list) != number(t, want, "titles."+key+".fragmented") {
			t.Errorf("%s: %d fragments are listed", key, len(list))
		}
	}
}

func (p *paper) variation(t *testing.T, want any) {
	got := p.agrees(t, want, "step.revision_variation.nq.report", "records = records.union", "revisions = revisions.distinct", "texts = texts.union",
		"varying_revisions = varying_revisions")
	for _, kind := range []string{"examples", "shared"} {
		list, _ := at(got, kind).([]any)
		for _, e := range list {
			testkit.That(t, at(e, "title") != "" && at(e, "a") != at(e, "b"), "an example that shows nothing", e)
		}
		testkit.Is(t, len(list), 2, kind)
	}
}

func (p *paper) substitutions(t *testing.T, want any) {
	got := p.agrees(t, want, "step.substitutions.dev.report", "compared = substitutions.compared", "mismatches = substitutions.mismatches")
	pairs, _ := at(want, "substitutions.pairs").([]any)
	testkit.Is(t, number(t, got, "pairs"), len(pairs), at(got, "pairs"))
	top, _ := at(got, "top").([]any)
	if len(top) != 10 || !slices.EqualFunc(top, pairs[:min(10, len(pairs))], has) {
		t.Errorf("top pairs %+v, the truth is %+v", top, pairs)
	}
}

// formats compares with tab:nq-format-fields itself.
func (p *paper) formats(t *testing.T, want any) {
	var fields map[string]struct{ Fields map[string]string }
	p.artifact(&fields, "step.format_fields.nq.report")
	for marks, names := range map[string][]string{
		"✓ –": {"question_tokens", "document_title", "document_html", "document_tokens",
			"Document-token HTML byte offsets", "Long-answer byte offsets", "Short-answer byte offsets"},
		"✓ ✓": {"example_id", "question_text", "document_url", "Long-answer token offsets", "Short-answer token offsets"},
		"– ✓": {"document_text"},
	} {
		for _, f := range names {
			testkit.Is(t, fields["full"].Fields[f]+" "+fields["simplified"].Fields[f], marks, f)
		}
	}
	p.agrees(t, want, "step.compare_formats.train.report", "both = records.train", "same = records.train")
}

func (p *paper) htmlNorm(t *testing.T, want any) {
	text := map[int64]string{}
	p.eachLine("step.serialize.every_record.corpus", func(doc line) { text[doc.ExampleID] = doc.Text })
	var known struct{ Openings []line }
	p.artifact(&known, truth)
	for _, o := range known.Openings {
		if !strings.HasPrefix(text[o.ExampleID], o.Text) {
			t.Errorf("example %d begins %.300q, the truth is %q", o.ExampleID, text[o.ExampleID], o.Text)
		}
	}
	if len(known.Openings) < 50 {
		t.Errorf("the truth has %d openings", len(known.Openings))
	}
	p.agrees(t, want, "step.serialize.every_record.report", "documents = records.union", "with_pronunciation = html_norm.pronunciation_removed.union")
}

// notComparable: at toy scale every number that the paper prints has a cell, and
// none says that it matches. What is expected at this scale holds.
func (p *paper) notComparable(t *testing.T, _ any) {
	var judged struct {
		Items []struct {
			Address string
			Checks  []struct{ Cell, Verdict string }
		}
	}
	p.json(&judged, "check", "--json")
	verdicts := map[string]int{}
	for _, it := range judged.Items {
		for _, c := range it.Checks {
			verdicts[c.Verdict]++
			if c.Verdict != "not comparable" && c.Verdict != "match" && c.Verdict != "not run" {
				t.Errorf("%s: %s: %s", it.Address, c.Cell, c.Verdict)
			}
		}
	}
	testkit.That(t, verdicts["not comparable"] >= 33+7+2+20+5 && verdicts["match"] != 0, verdicts)
}
