package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
)

// paper runs verbs on the paper's own pipeline at toy scale.
type paper struct {
	t    *testing.T
	args []string
	out  string
	got  map[string]string // folder of the outputs of a step that was asked for
	keys map[string]string // of its result
}

// newPaper lays the paper's pipeline and other files side by side: a folder is
// one pipeline.
func newPaper(t *testing.T, beside ...string) *paper {
	dir := t.TempDir()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	errtest.None(t, err)
	folder := filepath.Join(dir, "pipeline")
	errtest.None(t, os.Mkdir(folder, 0o755))
	errtest.None(t, os.Symlink(filepath.Join(root, "assets"), filepath.Join(folder, "assets")))
	files := paperSources(t)
	for _, f := range beside {
		if files[filepath.Base(f)], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files {
		filetest.Write(t, filepath.Join(folder, name), b)
	}
	return &paper{t: t, out: filepath.Join(dir, "results"),
		args: []string{"-f", folder, "--state", filepath.Join(dir, "state"), "--var", "scale=toy"}}
}

func (p *paper) run(verb ...string) []byte {
	p.t.Helper()
	var out, errs bytes.Buffer
	if code := execute(context.Background(), kinds.Registry(), append(verb, p.args...), &out, &errs, Paper{}); code != fault.CodeOK {
		p.t.Fatalf("redsi %v: exit %d\n%s", verb, code, errs.String())
	}
	return out.Bytes()
}

func (p *paper) json(v any, verb ...string) {
	p.t.Helper()
	errtest.None(p.t, json.Unmarshal(p.run(verb...), v))
}

// output reads STEP.OUTPUT of what has run.
func (p *paper) output(name string) []byte {
	p.t.Helper()
	dot := strings.LastIndexByte(name, '.')
	b, err := os.ReadFile(filepath.Join(p.outputs(name[:dot]), name[dot+1:]))
	if err != nil {
		p.t.Fatal(err)
	}
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
	errtest.None(p.t, json.Unmarshal(p.output(name), v))
}

// eachLine decodes a .jsonl.zst artifact.
func (p *paper) eachLine(name string, line func(*json.Decoder) error) {
	p.t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(p.output(name)))
	errtest.None(p.t, err)
	defer z.Close()
	for d := json.NewDecoder(z); ; {
		if err := line(d); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			p.t.Fatalf("%s: %v", name, err)
		}
	}
}

type counts struct{ Train, Dev, Union int }

type coverage struct {
	DevTargets   int `json:"dev_targets"`
	InTrain      int `json:"in_train"`
	TrainQueries int `json:"train_queries"`
	DevQueries   int `json:"dev_queries"`
}

// truth is what the generator knows by construction.
type truth struct {
	Records   counts
	Documents map[string]counts
	Coverage  map[string]coverage
	Titles    map[string]struct {
		Fragmented, Collisions int
		CollidingPages         int `json:"colliding_pages"`
		AffectedTrain          int `json:"affected_train"`
		AffectedDev            int `json:"affected_dev"`
	}
	Revisions struct {
		Distinct, Resolved int
		UnresolvedRecords  counts `json:"unresolved_records"`
	}
	Texts            counts
	VaryingRevisions int `json:"varying_revisions"`
	Stub             stub
	Substitutions    struct {
		Compared, Mismatches int64
		Pairs                []pair
	}
	HTMLNorm struct {
		PronunciationRemoved counts `json:"pronunciation_removed"`
	} `json:"html_norm"`
	Openings []struct {
		ExampleID int64 `json:"example_id"`
		Text      string
	}
}

type stub struct{ Pages, Revisions, Redirects int }

type pair struct {
	HTML, Stored   string
	Count, Records int64
}

// TestPipelineFindsTheTruth runs pipelines.hcl and the examples on the generated
// corpus and compares what they count with what the generator knows.
func TestPipelineFindsTheTruth(t *testing.T) {
	t.Parallel()
	p := newPaper(t, filepath.Join("testdata", "truth.hcl"),
		filepath.Join("..", "..", "examples", "text_key.hcl"), filepath.Join("..", "..", "examples", "longest_text.hcl"))
	run := []string{"run", "--quiet", "--out", p.out}
	for _, target := range []string{
		"table.dedup_counts", "table.grouping_effects", "table.revision_texts", "table.nq_token_substitutions", "table.nq_format_fields",
		"table.page_id_resolution", "step.compare_formats.train", "step.dedup_diagnostics.nci_h1", "table.text_keys", "step.dedup.texts", "step.dedup.longest",
	} {
		run = append(run, "--target", target)
	}
	p.run(run...)
	var want truth
	p.artifact(&want, `step.synth.nq["toy"].truth`)
	t.Run("documents", func(t *testing.T) { p.documents(t, want) })
	t.Run("resolution", func(t *testing.T) { p.resolution(t, want) })
	t.Run("titles", func(t *testing.T) { p.titles(t, want) })
	t.Run("variation", func(t *testing.T) { p.variation(t, want) })
	t.Run("substitutions", func(t *testing.T) { p.substitutions(t, want) })
	t.Run("formats", func(t *testing.T) { p.formats(t, want) })
	t.Run("html norm", func(t *testing.T) { p.htmlNorm(t, want) })
	t.Run("scale", p.notComparable)
	t.Run("checklists", p.checklists)

	var plan struct {
		Summary struct{ Hit, Run, Maybe int }
	}
	p.json(&plan, "plan", "--json", "--target", "table.dedup_counts")
	if plan.Summary.Run+plan.Summary.Maybe != 0 || plan.Summary.Hit < 15 {
		t.Errorf("after the run the plan is %+v", plan.Summary)
	}
}

// checklists are filled for the whole paper of which a part has run.
func (p *paper) checklists(t *testing.T) {
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

type dedupCounts struct {
	Records, Documents counts
	Coverage           coverage
	Resolution         struct {
		Revisions  int
		Resolved   int `json:"resolved_revisions"`
		Unresolved int `json:"unresolved_records"`
	}
}

func (p *paper) documents(t *testing.T, want truth) {
	if len(want.Documents) != 10 {
		t.Fatalf("the truth knows %d keys", len(want.Documents))
	}
	check := func(step, key string) {
		var got dedupCounts
		p.artifact(&got, step+".counts")
		if got.Documents != want.Documents[key] || got.Records != want.Records || got.Coverage != want.Coverage[key] {
			t.Errorf("%s: %+v; the truth is %+v of %+v, %+v", step, got, want.Documents[key], want.Records, want.Coverage[key])
		}
	}
	for key := range want.Documents {
		check(`step.dedup.nq["`+key+`"]`, key)
	}
	for _, key := range []string{"text4k", "text4k_cased"} {
		check(`step.dedup.texts["`+key+`"]`, key)
	}
	check("step.dedup.longest", "page_id")
	p.longest(t)
}

// longest recomputes which snapshot has the longest text.
func (p *paper) longest(t *testing.T) {
	length := map[int64]int{}
	p.eachLine("step.serialize.simplified_records.corpus", func(d *json.Decoder) error {
		var doc struct {
			ExampleID int64 `json:"example_id"`
			Text      string
		}
		err := d.Decode(&doc)
		length[doc.ExampleID] = len([]rune(doc.Text))
		return err
	})
	best := map[int]int{}
	p.eachLine("step.dedup.longest.queries", func(d *json.Decoder) error {
		var q struct {
			Doc       int
			ExampleID int64 `json:"example_id"`
		}
		err := d.Decode(&q)
		if err == nil {
			best[q.Doc] = max(best[q.Doc], length[q.ExampleID])
		}
		return err
	})
	p.eachLine("step.dedup.longest.documents", func(d *json.Decoder) error {
		var doc struct {
			Doc       int
			ExampleID int64 `json:"example_id"`
		}
		err := d.Decode(&doc)
		if err == nil && length[doc.ExampleID] != best[doc.Doc] {
			t.Errorf("document %d is represented by %d code points, the longest has %d", doc.Doc, length[doc.ExampleID], best[doc.Doc])
		}
		return err
	})
}

func (p *paper) resolution(t *testing.T, want truth) {
	var got dedupCounts
	p.artifact(&got, `step.dedup.nq["page_id"].counts`)
	if r := got.Resolution; r.Revisions != want.Revisions.Distinct || r.Resolved != want.Revisions.Resolved || r.Unresolved != want.Revisions.UnresolvedRecords.Union {
		t.Errorf("resolution %+v, the truth is %+v", r, want.Revisions)
	}
	audit := 0
	p.eachLine(`step.dedup.nq["page_id"].unresolved`, func(d *json.Decoder) error {
		var line struct{ Key string }
		err := d.Decode(&line)
		if err == nil {
			audit++
			if !strings.HasPrefix(line.Key, "t:") {
				t.Errorf("an unresolved record has the key %q", line.Key)
			}
		}
		return err
	})
	if audit != want.Revisions.UnresolvedRecords.Union {
		t.Errorf("the audit lists %d records of %d", audit, want.Revisions.UnresolvedRecords.Union)
	}
	var dump stub
	p.artifact(&dump, `step.pages.nq["dump"].report`)
	if dump != want.Stub {
		t.Errorf("dump %+v, the truth is %+v", dump, want.Stub)
	}
}

func (p *paper) titles(t *testing.T, want truth) {
	for key, step := range map[string]string{"title": "nq", "nci_h1": "nci_h1"} {
		var got struct {
			Fragmented        int                                `json:"fragmented_pages"`
			Keys              int                                `json:"colliding_keys"`
			Pages             int                                `json:"colliding_pages"`
			Affected          map[string]struct{ Queries int }   `json:"affected"`
			Coverage          coverage                           `json:"coverage"`
			ReferenceCoverage coverage                           `json:"reference_coverage"`
			Additional        int                                `json:"additional_queries"`
			Fragments         []struct{ Names []map[string]any } `json:"fragments"`
		}
		p.artifact(&got, "step.dedup_diagnostics."+step+".report")
		w := want.Titles[key]
		if got.Fragmented != w.Fragmented || got.Keys != w.Collisions || got.Pages != w.CollidingPages ||
			got.Affected["train"].Queries != w.AffectedTrain || got.Affected["dev"].Queries != w.AffectedDev {
			t.Errorf("%s: %+v, the truth is %+v", key, got, w)
		}
		if got.Coverage != want.Coverage[key] || got.ReferenceCoverage != want.Coverage["page_id"] {
			t.Errorf("%s: coverage %+v and %+v, the truth is %+v", key, got.Coverage, got.ReferenceCoverage, want.Coverage)
		}
		if n := want.Coverage["page_id"].TrainQueries - want.Coverage[key].TrainQueries; got.Additional != n {
			t.Errorf("%s: %d additional queries, the truth is %d", key, got.Additional, n)
		}
		if len(got.Fragments) != w.Fragmented {
			t.Errorf("%s: %d fragments are listed", key, len(got.Fragments))
		}
	}
}

func (p *paper) variation(t *testing.T, want truth) {
	var got struct {
		Records, Revisions, Texts int
		Varying                   int `json:"varying_revisions"`
		Examples, Shared          []struct{ Title, A, B string }
	}
	p.artifact(&got, "step.revision_variation.nq.report")
	if got.Records != want.Records.Union || got.Revisions != want.Revisions.Distinct || got.Texts != want.Texts.Union || got.Varying != want.VaryingRevisions {
		t.Errorf("%+v, the truth is %d revisions, %+v texts, %d varying", got, want.Revisions.Distinct, want.Texts, want.VaryingRevisions)
	}
	for _, e := range append(got.Examples, got.Shared...) {
		if e.Title == "" || e.A == e.B {
			t.Errorf("an example that shows nothing: %+v", e)
		}
	}
	if len(got.Examples) != 2 || len(got.Shared) != 2 {
		t.Errorf("%d and %d examples", len(got.Examples), len(got.Shared))
	}
}

func (p *paper) substitutions(t *testing.T, want truth) {
	var got struct {
		Compared, Mismatches int64
		Pairs                int
		Top                  []pair
	}
	p.artifact(&got, "step.substitutions.dev.report")
	if got.Compared != want.Substitutions.Compared || got.Mismatches != want.Substitutions.Mismatches || got.Pairs != len(want.Substitutions.Pairs) {
		t.Errorf("%+v, the truth is %d of %d, %d pairs", got, want.Substitutions.Mismatches, want.Substitutions.Compared, len(want.Substitutions.Pairs))
	}
	if !reflect.DeepEqual(got.Top, want.Substitutions.Pairs[:len(got.Top)]) || len(got.Top) != 10 {
		t.Errorf("top pairs %+v, the truth is %+v", got.Top, want.Substitutions.Pairs)
	}
}

// formats compares with tab:nq-format-fields itself.
func (p *paper) formats(t *testing.T, want truth) {
	var fields map[string]struct{ Fields map[string]string }
	p.artifact(&fields, "step.format_fields.nq.report")
	onlyFull := []string{"question_tokens", "document_title", "document_html", "document_tokens",
		"Document-token HTML byte offsets", "Long-answer byte offsets", "Short-answer byte offsets"}
	both := []string{"example_id", "question_text", "document_url", "Long-answer token offsets", "Short-answer token offsets"}
	marks := func(name string) [2]string {
		return [2]string{fields["full"].Fields[name], fields["simplified"].Fields[name]}
	}
	for _, f := range onlyFull {
		if marks(f) != [2]string{"✓", "–"} {
			t.Errorf("%s: %v", f, marks(f))
		}
	}
	for _, f := range both {
		if marks(f) != [2]string{"✓", "✓"} {
			t.Errorf("%s: %v", f, marks(f))
		}
	}
	if marks("document_text") != [2]string{"–", "✓"} {
		t.Errorf("document_text: %v", marks("document_text"))
	}
	var same struct{ Both, Same int }
	p.artifact(&same, "step.compare_formats.train.report")
	if same.Both != want.Records.Train || same.Same != want.Records.Train {
		t.Errorf("formats: %+v of %d train records", same, want.Records.Train)
	}
}

func (p *paper) htmlNorm(t *testing.T, want truth) {
	text := map[int64]string{}
	p.eachLine("step.serialize.every_record.corpus", func(d *json.Decoder) error {
		var doc struct {
			ExampleID int64 `json:"example_id"`
			Text      string
		}
		err := d.Decode(&doc)
		text[doc.ExampleID] = doc.Text
		return err
	})
	for _, o := range want.Openings {
		if !strings.HasPrefix(text[o.ExampleID], o.Text) {
			t.Errorf("example %d begins %.300q, the truth is %q", o.ExampleID, text[o.ExampleID], o.Text)
		}
	}
	if len(want.Openings) < 50 {
		t.Errorf("the truth has %d openings", len(want.Openings))
	}
	var tally struct {
		Documents         int
		WithPronunciation int `json:"with_pronunciation"`
	}
	p.artifact(&tally, "step.serialize.every_record.report")
	if tally.Documents != want.Records.Union || tally.WithPronunciation != want.HTMLNorm.PronunciationRemoved.Union {
		t.Errorf("%+v, the truth is %+v of %+v", tally, want.HTMLNorm.PronunciationRemoved, want.Records)
	}
}
