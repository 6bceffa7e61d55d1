package kinds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

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
	store, err := dir.Open(root)
	errtest.None(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const id = "20260102T030405Z-00000001"
	run := runs.Record{Format: "redsi-run/1", RunID: id, Pipeline: "pipelines.hcl", Project: "AAAAAAAAAAAAAAAAAAAAAAAAAA", Plan: artifacts.Sum([]byte("plan"))}
	keep := func(address string, r *artifacts.Result) {
		t.Helper()
		for _, a := range r.Outputs {
			for _, d := range a.Blobs() {
				in, err := l.Store.Open(ctx, d)
				errtest.None(t, err)
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
	b, err := json.Marshal(run)
	errtest.None(t, err)
	errtest.None(t, store.Records.Create(ctx, "runs/"+id, b))
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
	errtest.None(t, trec.WriteRun(&run, "redsi", untied, trec.EncodeName))
	var judgments trec.Judgments
	for _, q := range []struct {
		query, doc string
		grade      int
	}{{"1", "0", 2}, {"1", "1", 1}, {"a b", "D é", 1}, {"3", "2", 1}} {
		errtest.None(t, judgments.Judge(q.query, q.doc, q.grade))
	}
	errtest.None(t, judgments.Write(&judged))
	return map[string]artifacts.Artifact{"run": l.blobOf("trec/run", run.Bytes()), "qrels": l.blobOf("trec/qrels", judged.Bytes()), "report": l.blobOf("dsi/metrics", []byte("{}\n"))}
}
