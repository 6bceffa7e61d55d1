package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/filetest"
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
	if code := execute(context.Background(), cmp.Or(p.kinds, kinds.Registry()), append(verb, p.args...), &out, &errs, Paper{}); code != fault.CodeOK {
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
	errtest.None(p.t, err)
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
func (p *paper) eachLine(name string, tell func(line)) {
	p.t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(p.output(name)))
	errtest.None(p.t, err)
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
	errtest.None(p.t, d.Decode(&v))
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
	errtest.None(t, err)
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
		if length[doc.ExampleID] != best[doc.Doc] {
			t.Errorf("document %d is represented by %d code points, the longest has %d", doc.Doc, length[doc.ExampleID], best[doc.Doc])
		}
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
			if at(e, "title") == "" || at(e, "a") == at(e, "b") {
				t.Errorf("an example that shows nothing: %+v", e)
			}
		}
		if len(list) != 2 {
			t.Errorf("%d %s", len(list), kind)
		}
	}
}

func (p *paper) substitutions(t *testing.T, want any) {
	got := p.agrees(t, want, "step.substitutions.dev.report", "compared = substitutions.compared", "mismatches = substitutions.mismatches")
	pairs, _ := at(want, "substitutions.pairs").([]any)
	if number(t, got, "pairs") != len(pairs) {
		t.Errorf("%v pairs, the truth is %d", at(got, "pairs"), len(pairs))
	}
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
			if got := fields["full"].Fields[f] + " " + fields["simplified"].Fields[f]; got != marks {
				t.Errorf("%s: %s, not %s", f, got, marks)
			}
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

// fullStep is a step of pipelines.hcl at full scale, as far as the test of models
// looks at it.
type fullStep struct {
	Model, IDs, Corpus, Queries, Embeddings ref
	MaxInput                                int     `json:"max_input"`
	LearningRate                            float64 `json:"learning_rate"`
	EvaluateEvery                           int     `json:"evaluate_every"`
	MaxTokens                               int     `json:"max_tokens"`
	LeafSize                                int     `json:"leaf_size"`
	Warmup, Steps, Batch, Beams             int
	Seed, Budget, Times, Clusters           int
	Ratio, Precision, Select, Init          string
	Decoding, Split, Pooling                string
}

type ref struct {
	Ref struct{ Step, Output string } `json:"$ref"`
}

// of is the reference that HCL writes KIND.NAME["KEY"].OUTPUT.
func of(kind, key, output string) (r ref) {
	r.Ref.Step, r.Ref.Output = "step."+kind+`["`+key+`"]`, output
	return r
}

// fullSteps are the steps of pipelines.hcl at scale full, by kind and name,
// then by key.
func fullSteps(t *testing.T) map[string]map[string]fullStep {
	all := map[string]map[string]fullStep{}
	for address, task := range loadPaper(t, nil, "scale", "full") {
		name, key, ok := strings.Cut(strings.TrimPrefix(address, "step."), `["`)
		switch name {
		case "train.dsi", "evaluate.dsi", "evaluate.trie", "naive_ids.nq", "semantic_ids.nq", "embed.nq":
		default:
			continue
		}
		var c fullStep
		if err := json.Unmarshal(task.Config, &c); err != nil || !ok {
			t.Fatalf("%s: %v", address, err)
		}
		if all[name] == nil {
			all[name] = map[string]fullStep{}
		}
		all[name][strings.TrimSuffix(key, `"]`)] = c
	}
	return all
}

// TestFullScaleModels compares every training of pipelines.hcl with what the paper
// says of the run that its name promises: sections "Experimental Setup" and
// "Identifier Type Robustness", and the appendices on ratios, hyperparameters,
// implementation, variability and budgets.
func TestFullScaleModels(t *testing.T) {
	t.Parallel()
	all := fullSteps(t)
	rates, warmups := map[string]float64{"1e-3": 1e-3, "5e-4": 5e-4}, map[string]int{"0": 0, "10K": 10_000, "100K": 100_000}
	counts := map[string]int{}
	for name, got := range all["train.dsi"] {
		part := append(strings.Split(name, "/"), "")
		collection, form, size, id, sweep := part[0], part[1], part[2], part[3], part[5]
		seed, err := strconv.Atoi(part[4])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := fullStep{Steps: 1_000_000, Batch: 128, EvaluateEvery: 5000, Select: "MRR@10", Precision: "fp16", Init: "weights", Beams: 40,
			Seed: seed, Ratio: "natural", MaxInput: 32, LearningRate: 1e-3,
			Model: of("download.t5", size, "files"), Corpus: of("serialize.nq", collection+"/"+form, "corpus"), Queries: of("dedup.nq", collection, "queries")}
		switch id {
		case "atomic":
			want.MaxInput, want.LearningRate, want.Warmup, want.IDs = 64, 5e-4, 10_000, of("atomic_ids.nq", collection, "ids")
		case "naive":
			want.IDs = of("naive_ids.nq", collection+"/dsi", "ids")
		case "semantic":
			want.IDs = of("semantic_ids.nq", collection+"/"+form, "ids")
		}
		kind, value, named := strings.Cut(sweep, "=")
		switch {
		case sweep == "":
			kind = size
		case kind == "ratio":
			want.Ratio = value
		case kind == "budget":
			want.IDs = of("naive_ids.nq", collection+"/"+value, "ids")
		case !named:
			kind = "hyperparameters"
			h := strings.Split(sweep, ",")
			want.LearningRate, want.Warmup = rates[h[1]], warmups[h[2]]
			if want.MaxInput, err = strconv.Atoi(h[0]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if sweep != "" && !strings.HasPrefix(name, "title/nci_norm/base/") {
			t.Errorf("%s: the paper sweeps on NQ320K-Title/NciNorm by T5-Base alone", name)
		}
		counts[kind]++
		if got != want {
			t.Errorf("%s is %+v, the paper says %+v", name, got, want)
		}
		evaluated(t, all["evaluate.dsi"], name, "unconstrained", want)
		if _, ok := all["evaluate.trie"][name]; ok {
			counts["trie"]++
			evaluated(t, all["evaluate.trie"], name, "constrained", want)
		}
	}
	// 2 x 2 constructions, 3 identifier types, 3 sizes, Efficient-Tiny by 5 seeds ("a total of 60 runs"); 7 ratios and 11
	// hyperparameters beside the selected ones, of each type; 6 budgets beside DSI's; 2 types by 3 sizes and 6 budgets by trie.
	for kind, want := range map[string]int{"base": 12, "small": 12, "tiny": 60, "ratio": 21, "hyperparameters": 33, "budget": 6, "trie": 12} {
		if counts[kind] != want {
			t.Errorf("%d runs of %s, the paper has %d", counts[kind], kind, want)
		}
	}
	for key, times := range map[string]int{"title/1x": 1, "title/2x": 2, "title/4x": 4, "title/8x": 8, "title/16x": 16, "title/32x": 32, "title/dsi": 0, "page_id/dsi": 0} {
		budget := 0
		if times == 0 {
			budget = 320_000
		}
		if got := all["naive_ids.nq"][key]; got.Budget != budget || got.Times != times || got.Seed != 42 {
			t.Errorf("naive identifiers %s: %+v", key, got)
		}
	}
	for key, got := range all["semantic_ids.nq"] {
		if e := all["embed.nq"][key]; got.Clusters != 10 || got.LeafSize != 100 || got.Embeddings != of("embed.nq", key, "embeddings") || e.MaxTokens != 512 {
			t.Errorf("semantic identifiers %s: %+v of %+v", key, got, e)
		}
	}
}

// evaluated checks that a model is asked the development queries of its
// collection, by 40 beams.
func evaluated(t *testing.T, steps map[string]fullStep, name, decoding string, trained fullStep) {
	t.Helper()
	want := fullStep{Model: of("train.dsi", name, "model"), IDs: trained.IDs, Queries: trained.Queries, Split: "dev", Precision: "fp32", Beams: 40, Decoding: decoding}
	got := steps[name]
	got.Batch = 0 // changes rounding only
	if got != want {
		t.Errorf("%s is evaluated by %+v, the paper says %+v", name, got, want)
	}
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
	if verdicts["not comparable"] < 33+7+2+20+5 || verdicts["match"] == 0 {
		t.Errorf("%v", verdicts)
	}
}

// planned is plan --json.
type planned struct {
	Steps []struct{ Address, Kind, Outcome, Key string }
}

// with returns the addresses whose outcome is one of those named, in the plan's order.
func (p planned) with(outcomes ...string) []string {
	var out []string
	for _, s := range p.Steps {
		if slices.Contains(outcomes, s.Outcome) {
			out = append(out, s.Address)
		}
	}
	return out
}

// added is what each example adds to the paper's plan: all that it can cost.
var added = map[string][]string{
	"text_key.hcl":          {"step.serialize.every_record", "step.dedup.html_text", "table.text_keys"},
	"longest_text.hcl":      {"step.serialize.simplified_records", "step.dedup.longest"},
	"serializer_option.hcl": {"step.serialize.kept", "step.first_tokens.kept"},
	"budgets.hcl": {"step.naive_ids.sparse", "step.train.sparse", `step.evaluate.sparse["post_filtered"]`, `step.evaluate.sparse["trie"]`,
		"table.sparse"},
	"t5_size.hcl": {`step.random_t5.mini["mini"]`, `step.train.mini["atomic"]`, `step.train.mini["naive"]`, `step.train.mini["semantic"]`,
		`step.evaluate.mini["atomic"]`, `step.evaluate.mini["naive"]`, `step.evaluate.mini["semantic"]`, "table.mini"},
	"seeds.hcl": {`step.train.seeded["atomic/42"]`, `step.train.seeded["atomic/43"]`, `step.train.seeded["atomic/44"]`,
		`step.train.seeded["naive/42"]`, `step.train.seeded["naive/43"]`, `step.train.seeded["naive/44"]`,
		`step.train.seeded["semantic/42"]`, `step.train.seeded["semantic/43"]`, `step.train.seeded["semantic/44"]`,
		`step.evaluate.seeded["atomic/42"]`, `step.evaluate.seeded["atomic/43"]`, `step.evaluate.seeded["atomic/44"]`,
		`step.evaluate.seeded["naive/42"]`, `step.evaluate.seeded["naive/43"]`, `step.evaluate.seeded["naive/44"]`,
		`step.evaluate.seeded["semantic/42"]`, `step.evaluate.seeded["semantic/43"]`, `step.evaluate.seeded["semantic/44"]`, "table.seeded"},
}

func TestAddedSteps(t *testing.T) {
	t.Parallel()
	base := loadPaper(t, nil)
	for name, want := range added {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(example(name))
			errtest.None(t, err)
			got := difference(t, base, loadPaper(t, map[string][]byte{name: src}))
			slices.Sort(got)
			want := slices.Sorted(slices.Values(want))
			if !slices.Equal(got, want) {
				t.Errorf("it adds\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(want, "\n "))
			}
		})
	}
}

// TestSeedsShareTheFirst: what the example trains under the paper's seed is the
// paper's own step under another name, so that it is not trained again.
func TestSeedsShareTheFirst(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(example("seeds.hcl"))
	errtest.None(t, err)
	tasks := loadPaper(t, map[string][]byte{"seeds.hcl": src})
	for _, id := range []string{"atomic", "naive", "semantic"} {
		paper := tasks[`step.train.dsi["title/nci_norm/small/`+id+`/42"]`]
		paper.Checks = nil // which are in no key
		if same := tasks[`step.train.seeded["`+id+`/42"]`]; paper.Kind != "train" || !reflect.DeepEqual(same, paper) {
			t.Errorf("%s: the example trains\n%+v\nthe paper\n%+v", id, same, paper)
		}
		if other := tasks[`step.train.seeded["`+id+`/43"]`]; reflect.DeepEqual(other, paper) {
			t.Errorf("%s: seed 43 is seed 42", id)
		}
	}
}

// TestLongerLists: what the head of pipelines.hcl gives as examples, and a word more in
// another list, are variants, and cost what docs/reproduction.md says.
func TestLongerLists(t *testing.T) {
	t.Parallel()
	base, src := loadPaper(t, nil), string(paperSources(t)[syntax.DefaultFile])
	for _, v := range []struct {
		variable, value string
		want            map[string]int // steps added, by kind
	}{
		{"seeds", "[42, 43, 44, 45, 46, 47]", map[string]int{"train": 12, "evaluate": 12}},
		{"more_dedup", `{ page_or_title = { key = "page_id", fallback = "title" } }`, map[string]int{"dedup": 1}},
		{"ratios", `["0:1", "natural", "1:1", "2:1", "4:1", "8:1", "16:1", "32:1", "64:1"]`, map[string]int{"train": 3, "evaluate": 3}},
		{"budgets", "[1, 2, 4, 8, 16, 32, 64]", map[string]int{"naive_ids": 1, "train": 1, "evaluate": 2}},
		{"max_input", `{ "32" = 32, "64" = 64, "128" = 128 }`, map[string]int{"train": 18, "evaluate": 18}},
	} {
		t.Run(v.variable, func(t *testing.T) {
			var edited map[string]step.Task
			if v.variable == "max_input" { // a local value
				const old = `{ "32" = 32, "64" = 64 }`
				if strings.Count(src, old) != 1 {
					t.Fatalf("pipelines.hcl has not once %q", old)
				}
				edited = loadPaper(t, map[string][]byte{syntax.DefaultFile: []byte(strings.Replace(src, old, v.value, 1))})
			} else if edited = loadPaper(t, nil, v.variable, v.value); !strings.Contains(src, ": "+v.value+"\nvariable \""+v.variable+"\"") {
				t.Errorf("pipelines.hcl has no such example of %s", v.variable)
			}
			got := map[string]int{}
			for _, address := range difference(t, base, edited) {
				got[edited[address].Kind]++
			}
			if !reflect.DeepEqual(got, v.want) {
				t.Errorf("it adds %v, want %v", got, v.want)
			}
		})
	}
}

// TestMoreIdentifiers: the variable turns a type of identifiers on, at both scales, in
// every collection, form and size, and takes nothing from the paper's steps.
func TestMoreIdentifiers(t *testing.T) {
	t.Parallel()
	for _, scale := range []string{"toy", "full"} {
		base := loadPaper(t, nil, "scale", scale)
		for _, id := range []string{"residual", "title"} {
			more := loadPaper(t, nil, "scale", scale, "more_identifiers", `["`+id+`"]`)
			got, its := map[string]int{}, regexp.MustCompile(`"[^"]*/`+id+`[/"]|\.`+id+`_ids\.`)
			for _, address := range difference(t, base, more) {
				got[more[address].Kind]++
				if !its.MatchString(address) {
					t.Errorf("%s: it adds %s", scale, address)
				}
			}
			if want := map[string]int{id + "_ids": 4, "train": 12, "evaluate": 15}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s adds %v, want %v", scale, id, got, want)
			}
		}
	}
}

// paperSources are the files of the paper's pipeline.
func paperSources(t *testing.T) map[string][]byte {
	files, err := syntax.Read(filepath.Join("..", "..", syntax.DefaultFile))
	errtest.None(t, err)
	sources := map[string][]byte{}
	for name, src := range files {
		sources[filepath.Base(name)] = src
	}
	return sources
}

// loadPaper loads the paper's pipeline, with files beside it or in its place, at toy
// scale or with other names and values of variables: the task of each address.
func loadPaper(t *testing.T, beside map[string][]byte, variables ...string) map[string]step.Task {
	t.Helper()
	vars := map[string]string{"scale": "toy"}
	for i := 0; i < len(variables); i += 2 {
		vars[variables[i]] = variables[i+1]
	}
	sources := paperSources(t)
	maps.Copy(sources, beside)
	p, ds := pipeline.Load(sources, pipeline.Options{Registry: kinds.Registry(), Vars: vars,
		World: pipeline.World{ReadFile: func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("..", "..", name)) }}})
	errtest.None(t, ds.Err())
	tasks := map[string]step.Task{}
	for _, s := range p.Steps {
		tasks[s.Address] = s.Task
	}
	return tasks
}

// difference is what variant has and base has not. A step of the paper that a
// variant takes away or changes is a mistake; its tables may grow.
func difference(t *testing.T, base, variant map[string]step.Task) []string {
	t.Helper()
	var out []string
	for address := range variant {
		if _, ok := base[address]; !ok {
			out = append(out, address)
		}
	}
	for address, task := range base {
		now, ok := variant[address]
		if !ok || strings.HasPrefix(address, "step.") && task.Kind != "effects" && !reflect.DeepEqual(now, task) {
			t.Errorf("%s is not what it was", address)
		}
	}
	return out
}

// TestVariantsRunAlone: once the steps that it builds on have results, what an example says
// it costs is exactly what it adds.
func TestVariantsRunAlone(t *testing.T) {
	t.Parallel()
	variants := []string{"text_key.hcl", "longest_text.hcl", "serializer_option.hcl"}
	p := newPaper(t)
	p.args = append(p.args, "--var", "toy_pages=12")
	p.run("run", "--quiet", "--out", p.out, "-t", "table.dedup_counts", "-t", `step.serialize.nq["page_id/html_norm"]`)
	folder := p.args[1]
	for _, name := range variants {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(example(name))
			errtest.None(t, err)
			filetest.Write(t, filepath.Join(folder, name), src)
			defer os.Remove(filepath.Join(folder, name))
			verb := []string{"plan", "--json"}
			for _, address := range added[name] {
				verb = append(verb, "-t", address)
			}
			var got planned
			p.json(&got, verb...)
			if run := got.with("run"); !slices.Equal(run, added[name][:1]) {
				t.Errorf("runs %v, want %v", run, added[name][:1])
			}
			if maybe := got.with("maybe"); !slices.Equal(maybe, added[name][1:]) {
				t.Errorf("may run %v, want %v", maybe, added[name][1:])
			}
			if len(got.with("hit")) < 4 {
				t.Errorf("only %v are hits", got.with("hit"))
			}
		})
	}
}
