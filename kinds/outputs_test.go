package kinds_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestOutputs holds the output digests of every kind of pipelines.hcl at toy
// scale with all types of identifiers, up to the trained models, and of MS MARCO's. A kind that gives
// other bytes under the same version would serve stale results: raise its Version,
// then -update.
func TestOutputs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	var lines []string
	kinds := map[string]bool{}
	for _, pl := range []*plan.Plan{
		l.exact(paper, map[string]string{"scale": "toy", "more_identifiers": `["residual"]`}),
		l.plan(filepath.Join("..", "examples", "msmarco.hcl"), map[string]string{"scale": "toy"}, "step.import_corpus.documents"),
		l.plan(filepath.Join("..", "examples", "systems.hcl"), nil, "step.title_ids.documents", "step.keyword_ids.documents"),
	} {
		for i, res := range l.run(pl) {
			spec := l.Registry.Lookup(pl.Steps[i].Task.Kind)
			kinds[spec.Name] = true
			for name, a := range res.Outputs {
				lines = append(lines, fmt.Sprintf("%s@%d %s.%s %s", spec.Name, spec.Version, pl.Steps[i].Address, name, a.Digest.Hex()))
			}
		}
	}
	for _, name := range []string{"import_model", "import_trained", "source"} {
		kinds[name] = true // their outputs are foreign files: TestImportModel, TestImportTrained, script source
	}
	slices.Sort(lines)
	for _, k := range l.Registry.Kinds() {
		if !k.Hidden && !k.Claim && !kinds[k.Name] && !slices.Contains(append(computed, "pages_api", "page_table", "compare_pages", "package", "compare_package", "command", "python", "script", "effects", "export_model", "import_model", "import_trained", "import_run", "import_qrels", "export_run", "fuse", "score", "compare", "agree", "import_embeddings", "overlap", "import_ids", "best", "best_model"), k.Name) {
			t.Errorf("the pipelines have no step of kind %s, so its output is not held", k.Name)
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	compareOutputs(t, goldens.Of(t, filepath.Join("testdata", "outputs.golden"), got), got)
}

func compareOutputs(t *testing.T, want, got string) {
	t.Helper()
	digest := map[string]string{}
	for line := range strings.Lines(want) {
		at := strings.LastIndexByte(line, ' ')
		digest[line[:at]] = line[at:]
	}
	for line := range strings.Lines(got) {
		at := strings.LastIndexByte(line, ' ')
		switch old, ok := digest[line[:at]]; {
		case !ok:
			t.Errorf("%s is not in outputs.golden; run with -update", line[:at])
		case old != line[at:]:
			kind, _, _ := strings.Cut(line, " ")
			t.Errorf("%s has different bytes than before under %s: bump Version, then -update (an input that changed may be the cause: look at the first in the plan)", line[:at], kind)
		}
	}
}

var toyStore = flag.String("toy-store", "", "with -update: URL of a store that has the results of pipelines.hcl at toy scale that the golden lacks")

// paperKey is what the golden has of a step of the paper.
type paperKey struct {
	Key     artifacts.Digest              `json:"key"`
	Outputs map[string]artifacts.Artifact `json:"outputs"`
}

// TestPaperKeys: the key of every step of the paper at toy scale is what it was, so that
// nobody computes again what did not change. After a change of pipelines.hcl itself:
// `redsi run --var scale=toy`, of what is new at least, then
// `go test ./kinds -run TestPaperKeys -update -toy-store "file://$PWD/.redsi/store"`.
func TestPaperKeys(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "paper-keys.json.gz")
	l := newLocal(t)
	pl := l.plan(paper, map[string]string{"scale": "toy"})
	var want map[string]paperKey
	goldens.JSON(t, golden, &want)
	if *goldens.Update {
		if *toyStore == "" {
			t.Skip("needs -toy-store")
		}
		store := testkit.Value(open.Store(t.Context(), *toyStore))(t)
		v := preview(t, pl, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
			found, err := artifacts.LookupMany(ctx, artifacts.Alone(store), keys)
			for _, w := range want {
				if found != nil && found[w.Key] == nil && slices.Contains(keys, w.Key) {
					found[w.Key] = &artifacts.Result{Key: w.Key, Outputs: w.Outputs}
				}
			}
			return found, err
		})
		want = map[string]paperKey{}
		for i, it := range v.Items {
			if it.Result == nil {
				t.Fatalf("the store has no result of %s", pl.Steps[i].Address)
			}
			want[pl.Steps[i].Address] = paperKey{it.Key, it.Result.Outputs}
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one
		testkit.None(t, errors.Join(json.NewEncoder(z).Encode(want), z.Close()))
		testkit.Write(t, golden, b.Bytes())
		return
	}
	known := map[artifacts.Digest]*artifacts.Result{}
	for _, w := range want {
		known[w.Key] = &artifacts.Result{Key: w.Key, Outputs: w.Outputs}
	}
	lookup := func(context.Context, []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return known, nil
	}
	for i, it := range preview(t, pl, lookup).Items {
		address := pl.Steps[i].Address
		w, ok := want[address]
		switch {
		case !ok:
			t.Errorf("%s is not in the golden", address)
		case it.Outcome != plan.Hit || it.Key != w.Key:
			t.Errorf("%s: its key was %s and is %s, %s", address, w.Key, it.Key, it.Outcome)
		}
	}
	testkit.Is(t, len(want), len(pl.Steps))
}

func preview(t *testing.T, pl *plan.Plan, lookup plan.Lookup) *plan.Preview {
	t.Helper()
	v := testkit.Value(pl.Follow(t.Context(), kinds.Registry(), lookup, plan.KeepAll, nil))(t)
	return v
}

// TestSampleGrown: a sample of all files with the paper's updates is the run of scale full,
// step by step.
func TestSampleGrown(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	stepsOf := func(vars map[string]string) map[string]string {
		vars["contact"], vars["pages_from"] = "me@example.org", "api"
		steps := map[string]string{}
		for _, s := range l.plan(paper, vars).Steps {
			task := testkit.Value(json.Marshal(s.Task))(t)
			steps[s.Address] = s.Queue + string(task)
		}
		return steps
	}
	full := stepsOf(map[string]string{"scale": "full"})
	if d := cmp.Diff(full, stepsOf(map[string]string{"scale": "sample", "sample_train": "50", "sample_updates": "paper"})); d != "" {
		t.Error(d)
	}
	if len(stepsOf(map[string]string{"scale": "sample", "sample_train": "50"})) >= len(full) {
		t.Error("a sample of all files has all trainings")
	}
}

// reports are JSON documents by the step that leaves them, filled path by path.
type reports map[string]map[string]any

func (r reports) set(step, path string, v float64) {
	if r[step] == nil {
		r[step] = map[string]any{}
	}
	at := r[step]
	names := strings.Split(path, ".")
	for _, n := range names[:len(names)-1] {
		if at[n] == nil {
			at[n] = map[string]any{}
		}
		at = at[n].(map[string]any)
	}
	at[names[len(names)-1]] = v
}

// TestPaperFigures draws the figures of pipelines.hcl that show model results
// from reports with the paper's numbers: every number must be read from where it
// stands and match, or, if it is hours, be shown, and what is claimed of them must hold. REDSI_FIGURES names a folder for the pictures.
func TestPaperFigures(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	src := readPipeline(t, paper)
	p := l.load(src, nil)
	for name, want := range map[string]struct{ numbers, claims int }{
		"model_scaling": {18, 0}, "model_scaling_and_training": {12, 7}, "identifier_validity": {12, 6}, "budget_decoding": {28, 2},
	} {
		t.Run(name, func(t *testing.T) {
			pl := testkit.Value(plan.Build("pipelines.hcl", p, l.Registry, []string{"figure." + name}))(t)
			task := l.withPaperNumbers(pl.Steps[len(pl.Steps)-1].Task)
			results := l.run(&plan.Plan{Format: pl.Format, Pipeline: "p.hcl", Steps: []plan.Step{{Address: "figure." + name, Task: task}}})
			item := "figure." + name
			j, err := expect.Judge(t.Context(), &plan.Preview{Plan: &plan.Plan{Steps: []plan.Step{{Address: item, Task: task}}}, Items: []plan.Item{{Result: results[0]}}},
				p.Claims, l.Store.Open)
			testkit.None(t, err)
			checks := j.Items[0].Checks
			numbers, claims := len(checks), 0
			for _, c := range j.Claims {
				for _, k := range c.Checks {
					if of, _, _ := address.Cell(k.Cells[0].Cell); of == item {
						checks = append(checks, k)
						claims++
					}
				}
			}
			for _, c := range checks {
				if c.Verdict != render.Matches && c.Verdict != render.Shown && c.Verdict != render.Holds {
					t.Errorf("%s: %s", c.Said(), c.Verdict)
				}
			}
			testkit.Is(t, numbers, want.numbers, "numbers and claims of the paper", want)
			testkit.Is(t, claims, want.claims, "numbers and claims of the paper", want)
			if dir := os.Getenv("REDSI_FIGURES"); dir != "" {
				for _, ext := range []string{"svg", "pdf", "png"} {
					testkit.Write(t, filepath.Join(dir, name+"."+ext), l.bytes(results[0].Outputs[ext]))
				}
			}
		})
	}
}

// withPaperNumbers replaces the steps that a figure reads by reports in which
// its expectations stand.
func (l *local) withPaperNumbers(task step.Task) step.Task {
	l.t.Helper()
	type number struct {
		Value []struct {
			Ref step.Ref `json:"$ref"`
		}
		Field string
	}
	type axis struct{ Scale float64 }
	var c struct {
		X, Y, Y2 axis
		Series   []struct {
			ID, Axis string
			Points   []struct {
				ID   string
				X, Y number
			}
		}
		Expect []struct {
			Cell  string
			Value *float64
		}
	}
	testkit.None(l.t, json.Unmarshal(task.Config, &c))
	expected := map[string]float64{}
	for _, e := range c.Expect {
		if e.Value != nil {
			expected[e.Cell] = *e.Value
		}
	}
	made := reports{}
	for _, s := range c.Series {
		for _, p := range s.Points {
			for suffix, n := range map[string]number{".x": p.X, ".y": p.Y} {
				scale := c.X.Scale
				if suffix == ".y" {
					scale = map[string]float64{"": c.Y.Scale, "y": c.Y.Scale, "y2": c.Y2.Scale}[s.Axis]
				}
				if scale == 0 {
					scale = 1
				}
				for _, v := range n.Value {
					made.set(v.Ref.Step, n.Field, expected[s.ID+"."+p.ID+suffix]/scale)
				}
			}
		}
	}
	bound, err := task.Bind(func(r step.Ref) (artifacts.Artifact, error) {
		b, err := json.Marshal(made[r.Step])
		if err != nil {
			return artifacts.Artifact{}, err
		}
		return l.blobOf("report", b), nil
	})
	testkit.None(l.t, err)
	return bound
}

// TestPaperWork: every step of the paper that models compute says its units, of a model whose sizes are
// those of a published one, and how many there are; its sources say what they will be.
func TestPaperWork(t *testing.T) {
	src := readPipeline(t, paper)
	reg := kinds.Registry()
	p := newLocal(t).load(src, nil)
	works := map[string]step.Work{}
	for _, s := range p.Steps {
		works[s.Address] = reg.Lookup(s.Kind).Work(s.Task)
	}
	shape := func(in step.Input) string {
		for in.Ref != nil {
			w := works[in.Ref.Step]
			if w.Shape != "" {
				return w.Shape
			}
			in = w.Like
		}
		return ""
	}
	found := map[string]int{}
	for _, s := range p.Steps {
		does := works[s.Address].Does
		if len(does) == 0 && (s.Queue == "gpu" || reg.Lookup(s.Kind).Queue == step.GPU) {
			t.Errorf("%s of kind %s does not say its work", s.Address, s.Kind)
		}
		for _, d := range does {
			text := fmt.Sprintf("%s: %g %s", s.Kind, d.Amount.Times, d.Unit)
			if d.Amount.Count != "" {
				text += " for each of " + d.Amount.Count
			}
			if of := shape(d.Model); of != "" {
				text += " by " + of
			}
			if in := d.Identifiers; in.Ref != nil {
				text += ", " + works[in.Ref.Step].Identifiers
			}
			found[text]++
		}
	}
	var got []string
	for text, n := range found {
		got = append(got, fmt.Sprintf("%d %s", n, text))
	}
	slices.Sort(got)
	testkit.Deep(t, got, paperWork)
}

// TestWorkOf: what tasks say of the work of small configurations, and of results.
func TestWorkOf(t *testing.T) {
	reg := kinds.Registry()
	for _, c := range []struct{ kind, config, want string }{
		{"download", `{"urls":["https://huggingface.co/google-t5/t5-base/resolve/1/config.json"],"bytes":892000000}`, `t5-base map[bytes:{8.92e+08 []  0}]`},
		{"download", `{"urls":["http://127.0.0.1:1/hub/google/t5-efficient-tiny/resolve/1/config.json"]}`, `t5-efficient-tiny map[]`},
		{"download", `{"urls":["https://huggingface.co/google-t5/t5-large/resolve/1/config.json"]}`, ` map[]`},
		{"random_t5", `{"layers":4,"d_model":256,"d_kv":64,"d_ff":1024,"heads":4}`, `t5-efficient-tiny map[bytes:{6.22592e+07 []  0}]`},
		{"random_t5", `{"layers":4,"d_model":256,"d_kv":64,"d_ff":1024,"heads":4,"decoder_layers":2}`, ` map[]`},
		{"synth", `{"pages":7,"train_questions":5,"dev_questions":3}`, ` map[documents:{7 []  0} records.dev:{3 []  0} records.train:{5 []  0}]`},
	} {
		spec := reg.Lookup(c.kind)
		var tree map[string]any
		testkit.None(t, json.Unmarshal([]byte(c.config), &tree))
		task := testkit.Value(step.NewTask(spec, tree))(t)
		w := spec.Work(task)
		testkit.Is(t, fmt.Sprint(w.Shape, " ", w.Counts), c.want, c.kind, c.config)
	}
}

var paperWork = []string{
	"1 evaluate: 1 trie searches for each of records.dev by t5-base, semantic",
	"1 evaluate: 1 trie searches for each of records.dev by t5-efficient-tiny, naive",
	"1 evaluate: 1 trie searches for each of records.dev by t5-efficient-tiny, semantic",
	"1 evaluate: 1 trie searches for each of records.dev by t5-small, naive",
	"1 evaluate: 1 trie searches for each of records.dev by t5-small, semantic",
	"2 embed: 14 tokens for each of records.dev by bert_uncased_L-8_H-512_A-8",
	"20 evaluate: 1 searches for each of records.dev by t5-efficient-tiny, atomic",
	"20 evaluate: 1 searches for each of records.dev by t5-efficient-tiny, naive",
	"20 evaluate: 1 searches for each of records.dev by t5-efficient-tiny, semantic",
	"20 train: 1e+06 updates by t5-efficient-tiny, atomic",
	"20 train: 1e+06 updates by t5-efficient-tiny, naive",
	"20 train: 1e+06 updates by t5-efficient-tiny, semantic",
	"20 train: 200 searches for each of records.dev by t5-efficient-tiny, atomic",
	"20 train: 200 searches for each of records.dev by t5-efficient-tiny, naive",
	"20 train: 200 searches for each of records.dev by t5-efficient-tiny, semantic",
	"22 evaluate: 1 searches for each of records.dev by t5-base, atomic",
	"22 evaluate: 1 searches for each of records.dev by t5-base, semantic",
	"22 train: 1e+06 updates by t5-base, atomic",
	"22 train: 1e+06 updates by t5-base, semantic",
	"22 train: 200 searches for each of records.dev by t5-base, atomic",
	"22 train: 200 searches for each of records.dev by t5-base, semantic",
	"28 evaluate: 1 searches for each of records.dev by t5-base, naive",
	"28 train: 1e+06 updates by t5-base, naive",
	"28 train: 200 searches for each of records.dev by t5-base, naive",
	"3 extract: 1 gzip bytes for each of bytes",
	"4 embed: 512 tokens for each of documents by bert_uncased_L-8_H-512_A-8",
	"4 evaluate: 1 searches for each of records.dev by t5-small, atomic",
	"4 evaluate: 1 searches for each of records.dev by t5-small, naive",
	"4 evaluate: 1 searches for each of records.dev by t5-small, semantic",
	"4 train: 1e+06 updates by t5-small, atomic",
	"4 train: 1e+06 updates by t5-small, naive",
	"4 train: 1e+06 updates by t5-small, semantic",
	"4 train: 200 searches for each of records.dev by t5-small, atomic",
	"4 train: 200 searches for each of records.dev by t5-small, naive",
	"4 train: 200 searches for each of records.dev by t5-small, semantic",
	"7 evaluate: 1 trie searches for each of records.dev by t5-base, naive",
}

// pythonStore is the store that the tests of python/redsi read.
var pythonStore = filepath.Join("..", "python", "tests", "store")

// pythonPipeline has an output of each type that they read, but those that need a model.
const pythonPipeline = `
step "import_corpus" "toy" {
  for_each = { all = { train = 40, dev = 20 }, few = { train = 9, dev = 20 } }
  files    = step.download.msmarco.files
  form     = "title_content"
  keep     = "relevant"
  empty    = "drop_body"
  limit    = each.value
}
step "atomic_ids" "toy" { documents = step.import_corpus.toy["all"].documents }
step "embed_hashing" "toy" {
  documents  = step.import_corpus.toy["all"].documents
  corpus     = step.import_corpus.toy["all"].corpus
  dimensions = 8
}
table "counts" {
  paper   = "tab:counts"
  caption = "Counts, <i>R & D</i> of a \\u003c text\u2028 with “quotes” \"."
  stubs   = ["<b>Collection</b>"]
  columns = [
    { id = "train", title = "Train", format = "integer", field = "documents.train" },
    { id = "dev", title = "<i>Dev</i>", format = "integer", field = "documents.dev" },
    { id = "note", title = "Note", format = "text" },
  ]
  rows = [
    { id = "all", titles = ["All"], value = step.import_corpus.toy["all"].counts, texts = { note = "<b>bold</b>" } },
    { rule = true },
    { section = "Both" },
    { id = "both", titles = ["Both"], value = [step.import_corpus.toy["all"].counts, step.import_corpus.toy["few"].counts], numbers = { note = 0.5 } },
  ]
}
figure "sizes" {
  x = { title = "Train" }
  y = { title = "Dev" }
  series = [{ id = "s", points = [for k in ["all", "few"] : {
    id = k
    x  = { value = step.import_corpus.toy[k].counts, field = "documents.train" }
    y  = { value = step.import_corpus.toy[k].counts, field = "documents.dev" }
  }] }]
}
`

// TestPythonStore: Go still writes, byte by byte, the store that python/redsi is tested with.
func TestPythonStore(t *testing.T) {
	ctx := context.Background()
	l := newLocal(t)
	pl := l.plan(write(t, t.TempDir(), "p.hcl", msmarcoDownload(t)+pythonPipeline), nil)
	results := l.run(pl)
	root := filepath.Join(t.TempDir(), "store")
	store := testkit.Value(dir.Open(root))(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const id = "20260102T030405Z-00000001"
	run := runs.Record{Format: "redsi-run/1", RunID: id, Pipeline: "pipelines.hcl", Project: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Plan: artifacts.Sum([]byte("plan"))}
	keep := func(address string, r *artifacts.Result) {
		t.Helper()
		for _, a := range r.Outputs {
			for _, d := range a.Blobs() {
				in := testkit.Value(l.Store.Open(ctx, d))(t)
				if _, _, err := store.Blobs.Put(ctx, in); err != nil {
					t.Fatal(err)
				}
				in.Close()
			}
		}
		// What tells of this run of the test is left out.
		r.Took, r.Finished, r.Env, r.Log, r.Used, r.Origin = time.Second, at, map[string]string{"host": "h"}, nil, nil, artifacts.Origin{RunID: id, Step: address}
		storetest.Publish(t, store, *r)
		run.Steps = append(run.Steps, runs.Step{Address: address, Key: r.Key, Outcome: "ran", TookS: 1})
	}
	byAddress := map[string]*artifacts.Result{}
	for i, r := range results {
		keep(pl.Steps[i].Address, r)
		byAddress[pl.Steps[i].Address] = r
	}
	keep(`step.random_t5.toy`, l.handmade("random_t5", map[string]any{"layers": int64(1), "d_model": int64(2), "d_kv": int64(1), "d_ff": int64(2), "heads": int64(1)},
		map[string]artifacts.Artifact{"model": *l.tree("hf/model", map[string][]byte{"config.json": []byte(`{"model_type":"t5"}`), "model.safetensors": []byte("weights")}).Artifact}))
	all := byAddress[`step.import_corpus.toy["all"]`].Outputs
	in := func(a artifacts.Artifact) step.Input { return step.In(a) }
	evaluated := l.handmade("evaluate", map[string]any{"model": l.tree("dsi/model", map[string][]byte{"config.json": []byte("{}")}), "ids": in(byAddress["step.atomic_ids.toy"].Outputs["ids"]),
		"queries": in(all["queries"]), "tokenizer": []any{l.tree("files", map[string][]byte{"tokenizer.json": []byte("{}")})}}, pythonRanking(t, l))
	keep(`step.evaluate.toy["a b"]`, evaluated)
	keep(`step.score.toy`, l.handmade("score", map[string]any{"run": in(evaluated.Outputs["run"]), "qrels": in(evaluated.Outputs["qrels"])},
		map[string]artifacts.Artifact{"queries": l.blobOf("score/queries", []byte("query\tMRR@10\thits\n1\t0.5\t1\na%09b\\t\t\t0\n"))}))
	run.Steps = append(run.Steps, runs.Step{Address: "step.train.broken", Key: artifacts.Sum([]byte("no result")), Outcome: "failed", Error: "it broke"},
		runs.Step{Address: "step.evaluate.broken", Outcome: "skipped"})
	b := testkit.Value(json.Marshal(run))(t)
	testkit.None(t, store.Records.Create(ctx, "runs/"+id, b))
	got := storeFiles(t, root)
	if diff := cmp.Diff(goldens.OfTree(t, pythonStore, got), got); diff != "" {
		t.Errorf("python/tests/store is not what Go writes; run with -update, and tools/python/check.sh (-there +written):\n%.4000s", diff)
	}
}

// storeFiles are the blobs and records of a store.
func storeFiles(t *testing.T, root string) map[string]string {
	t.Helper()
	files := goldens.Tree(t, root)
	maps.DeleteFunc(files, func(path, _ string) bool {
		return !strings.HasPrefix(path, "blobs/") && !strings.HasPrefix(path, "records/")
	})
	return files
}

// handmade is the result of a task that is not run, for a kind that needs a model.
func (l *local) handmade(kind string, tree map[string]any, outputs map[string]artifacts.Artifact) *artifacts.Result {
	l.t.Helper()
	_, key, preimage := keyOf(l.t, l.Registry, kind, tree)
	return &artifacts.Result{Key: key, Preimage: preimage, Outputs: outputs}
}

// pythonRanking is a run with ties, what is not a document, and names with blanks.
func pythonRanking(t *testing.T, l *local) map[string]artifacts.Artifact {
	t.Helper()
	untied, _ := trec.Untie([]trec.Ranking{
		{Query: "1", Hypotheses: []trec.Hypothesis{{Document: "2", Score: 1}, {Text: "1 2 %", Score: 1}, {Document: "0", Score: 1}, {Document: "1", Score: -0.25}}},
		{Query: "a b", Hypotheses: []trec.Hypothesis{{Document: "D é", Score: 3}}},
	})
	var run, judged bytes.Buffer
	testkit.None(t, trec.WriteRun(&run, "redsi", untied, trec.EncodeName))
	var judgments trec.Judgments
	for _, q := range []struct {
		query, doc string
		grade      int
	}{{"1", "0", 2}, {"1", "1", 1}, {"a b", "D é", 1}, {"3", "2", 1}} {
		testkit.None(t, judgments.Judge(q.query, q.doc, q.grade))
	}
	testkit.None(t, judgments.Write(&judged))
	return map[string]artifacts.Artifact{"run": l.blobOf("trec/run", run.Bytes()), "qrels": l.blobOf("trec/qrels", judged.Bytes()), "report": l.blobOf("dsi/metrics", []byte("{}\n"))}
}
