package kinds_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// trained is what a train step reports.
type trained struct {
	Parameters int64
	Steps      int64
	BestStep   int64 `json:"best_step"`
	Metrics    map[string]float64
	Indexing   int `json:"indexing_examples"`
	Retrieval  int `json:"retrieval_examples"`

	Seconds       float64
	SecondsToBest float64 `json:"seconds_to_best"`
	StepsTo95     int64   `json:"steps_to_95_percent"`
	SecondsTo95   float64 `json:"seconds_to_95_percent"`
	MRRAt95       float64 `json:"mrr_at_95_percent"`
	ResumedAt     int64   `json:"resumed_at"`
}

// TestTrain: every sort of identifier is learned well enough for queries that were
// never seen, the report is the curve's, an evaluate step finds the same numbers,
// and no tensor is left.
func TestTrain(t *testing.T) {
	t.Run("t5", func(t *testing.T) {
		kinds := slices.DeleteFunc(docid.Kinds(), func(k docid.Kind) bool { return k == docid.KindKeyword || k == docid.KindOther }) // spelled as titles are
		testTrain(t, newTraining(t, newLocal(t)), kinds, 80, 3)
	})
	t.Run("by text", func(t *testing.T) {
		f := newTraining(t, newLocal(t))
		f.config["validity"] = "text"
		testTrain(t, f, []docid.Kind{docid.KindNaive}, 80, 3)
	})
	t.Run("bart", func(t *testing.T) {
		testTrain(t, newBARTTraining(t, newLocal(t)), []docid.Kind{docid.KindAtomic, docid.KindNaive}, 240, 2)
	})
}

// TestFirstToken: documents may begin at any token from the tokenizer's length to the rows
// of the model. Rows that there are begin as they are, and the model grows by those that
// are missing, whether </s> is trained or not.
func TestFirstToken(t *testing.T) {
	for name, f := range map[string]*training{"t5": newTraining(t, newLocal(t)), "bart": newBARTTraining(t, newLocal(t))} {
		before, eos := digestOf(*f.config["model"].(step.Input).Artifact, "model.safetensors"), int32(1)
		if name == "bart" {
			eos = 2
		}
		var parameters int64 // of a model that has not grown
		for _, ids := range []*docid.Set{
			f.atomic(f.words), f.atomic(f.words, eos), f.atomic(f.words + 1), f.atomic(f.rows-5, eos), f.atomic(f.rows), f.atomic(f.rows, eos),
		} {
			first, last := ids.TokenRange()
			res, err := f.do("train", f.with(map[string]any{"ids": f.set(ids), "steps": int64(1), "learning_rate": 1e-60})) // moves no float32
			testkit.None(t, err, name, first)
			var r trained
			f.json(res.Outputs["report"], &r)
			if first == f.words {
				parameters = r.Parameters
				testkit.Is(t, digestOf(res.Outputs["model"], "model.safetensors"), before, name)
			}
			if want := parameters + 32*int64(max(0, last+1-f.rows)); r.Parameters != want {
				t.Errorf("%s, tokens %d to %d: %d parameters, want %d", name, first, last, r.Parameters, want)
			}
			f.checkEvaluation(ids, r, res)
		}
	}
}

// testTrain wants MRR@10 of so many times what is had by chance after some updates.
func testTrain(t *testing.T, f *training, kinds []docid.Kind, steps int64, times float64) {
	live := tensor.Live()
	sizes := map[int64]bool{} // without the rows of tokens that identifiers have of their own
	for _, kind := range kinds {
		ids := f.ids(kind)
		res := f.made("train", f.with(map[string]any{"ids": f.set(ids), "steps": steps, "evaluate_every": steps / 4}))
		testkit.Is(t, tensor.Live(), live, kind)
		var r trained
		f.json(res.Outputs["report"], &r)
		chance := 0.0 // MRR@10 of a random order
		for rank := 1.0; rank <= 10; rank++ {
			chance += 1 / rank / trainedDocuments
		}
		if r.Metrics["MRR@10"] < times*chance {
			t.Errorf("%s: MRR@10 is %.3f, by chance %.3f", kind, r.Metrics["MRR@10"], chance)
		}
		_, last := ids.TokenRange()
		sizes[r.Parameters-32*max(0, int64(last)+1-int64(f.rows))] = true
		f.checkReport(kind, steps, r, res)
		f.checkEvaluation(ids, r, res)
	}
	testkit.Is(t, len(sizes), 1, slices.Collect(maps.Keys(sizes)))
}

func (f *training) checkReport(kind docid.Kind, steps int64, r trained, res *artifacts.Result) {
	f.t.Helper()
	var c train.Curve
	f.json(res.Outputs["curve"], &c)
	best, _ := c.Best()
	if len(c.Points) != 4 || r.BestStep != best.Step || r.SecondsToBest != best.Seconds || r.Metrics["MRR@10"] != best.Metrics["MRR@10"] {
		f.t.Errorf("%s: %+v, of the curve %+v", kind, r, c.Points)
	}
	near := slices.IndexFunc(c.Points, func(p train.Point) bool { return p.Metrics["MRR@10"] >= 0.95*best.Metrics["MRR@10"] })
	if p := c.Points[near]; r.StepsTo95 != p.Step || r.SecondsTo95 != p.Seconds || r.MRRAt95 != p.Metrics["MRR@10"] || r.Seconds != c.Points[3].Seconds {
		f.t.Errorf("%s: %+v, 95 %% at %+v", kind, r, p)
	}
	if r.Steps != steps || r.Indexing != trainedDocuments || r.Retrieval != 3*trainedDocuments || r.Parameters < 32*int64(f.rows) || r.ResumedAt != 0 {
		f.t.Errorf("%s: %+v", kind, r)
	}
	if _, has := r.Metrics["Invalid@40"]; has != kind.CanBeInvalid() || !has && len(r.Metrics) != 3 || has && len(r.Metrics) != 4 {
		f.t.Errorf("%s: metrics %v", kind, r.Metrics)
	}
	events := f.bytes(res.Outputs["events"])
	if n := binary.LittleEndian.Uint64(events); n == 0 || n > 100 {
		f.t.Errorf("%s: the first event has %d bytes", kind, n)
	}
}

// checkEvaluation asks the model by an evaluate step.
func (f *training) checkEvaluation(ids *docid.Set, r trained, res *artifacts.Result) {
	f.t.Helper()
	settings, err := retrieve.ParseSettings(f.bytes(artifacts.Artifact{Digest: digestOf(res.Outputs["model"], retrieve.SettingsFile)}))
	want, _ := retrieve.SettingsFor(ids, retrieve.Inputs{MaxInput: int(f.config["max_input"].(int64)), MaxQuery: 64,
		IndexPrefix: "index:", QueryPrefix: "query:", Lowercase: true})
	if v, ok := f.config["validity"]; ok {
		want.Search.Validity = retrieve.Validity(v.(string))
	}
	testkit.None(f.t, err)
	testkit.Is(f.t, settings, want)
	e := &asked{local: f.local, ids: ids, config: map[string]any{
		"model": step.In(res.Outputs["model"]), "ids": f.set(ids), "queries": f.config["queries"], "tokenizer": f.config["tokenizer"], "device": "cpu"}}
	var report evaluationReport
	testkit.None(f.t, json.Unmarshal([]byte(e.evaluate(nil)["report"]), &report))
	p := report.Percent
	if !close(p.PostFiltered["mrr_10"], 100*r.Metrics["MRR@10"]) || !close(p.PostFiltered["hits_1"], 100*r.Metrics["Hits@1"]) || report.Parameters != r.Parameters {
		f.t.Errorf("%s: evaluate says %+v, train %+v", ids.Kind, report, r)
	}
	if p.Invalid != nil && !close(*p.Invalid, 100*r.Metrics["Invalid@40"]) {
		f.t.Errorf("%s: invalid %v, train says %v", ids.Kind, *p.Invalid, r.Metrics["Invalid@40"])
	}
	if !ids.Kind.CanBeInvalid() {
		return
	}
	if *p.Invalid == 0 {
		f.t.Errorf("%s: 40 free beams for %d documents find nothing but identifiers", ids.Kind, len(ids.Identifiers))
	}
	free := p.PostFiltered["mrr_10"]
	report = evaluationReport{}
	testkit.None(f.t, json.Unmarshal([]byte(e.evaluate(map[string]any{"decoding": "constrained"})["report"]), &report))
	if p := report.Percent; *p.Invalid != 0 || p.PostFiltered["mrr_10"] < free-5 {
		f.t.Errorf("%s: along the trie %v are invalid and MRR@10 is %v, of free beams %v", ids.Kind, *p.Invalid, p.PostFiltered, free)
	}
}

func close(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func digestOf(a artifacts.Artifact, name string) artifacts.Digest {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Digest
		}
	}
	return artifacts.Digest{}
}

// TestTrainRepeats: by_queries has each document in a pass as often as it has training
// queries, and at least once.
func TestTrainRepeats(t *testing.T) {
	f := newTraining(t, newLocal(t))
	f.keepCheckpoints()
	var queries []dedup.Query
	for i, q := range f.queries { // document 3 has no training query, document 5 one, the others three
		if q.Split == nq.Dev || q.Doc != 3 && (q.Doc != 5 || f.queries[i-1].Doc != 5) {
			queries = append(queries, q)
		}
	}
	res, err := f.do("train", f.with(map[string]any{
		"ratio": "1:1", "repeats": "by_queries", "queries": f.lines(queries), "steps": int64(2), "beams": int64(5)}))
	testkit.None(t, err)
	var state struct{ Pass, Indexing int }
	testkit.None(t, json.Unmarshal(f.checkpointFile(f.checkpointNames()[0], "state.json"), &state))
	var r trained
	f.json(res.Outputs["report"], &r)
	if r.Retrieval != 55 || state.Indexing != 18*3+2 || state.Pass != state.Indexing+55 {
		t.Errorf("%d queries; a pass is %+v", r.Retrieval, state)
	}
}

// TestTrainRefuses: what does not belong together, or diverges, is told at once and
// not tried again, and leaves no tensor.
func TestTrainRefuses(t *testing.T) {
	f := newTraining(t, newLocal(t))
	live := tensor.Live()
	atomic, naive := f.ids(docid.KindAtomic), f.ids(docid.KindNaive)
	shifted := &docid.Set{Kind: docid.KindAtomic, Identifiers: slices.Clone(atomic.Identifiers)}
	for i := range shifted.Identifiers {
		shifted.Identifiers[i].Tokens = []int32{int32(3073 + i)}
	}
	fewer := &docid.Set{Kind: naive.Kind, Identifiers: naive.Identifiers[:19]}
	large := &docid.Set{Kind: naive.Kind, Identifiers: slices.Clone(naive.Identifiers)}
	large.Identifiers[3].Tokens = []int32{40_000, 1}
	open := &docid.Set{Kind: naive.Kind, Identifiers: slices.Clone(naive.Identifiers)}
	open.Identifiers[3].Tokens = []int32{5, 6}
	of := func(split nq.Split) step.Input {
		return f.lines(slices.DeleteFunc(slices.Clone(f.queries), func(q dedup.Query) bool { return q.Split != split }))
	}
	small := f.made("random_t5", map[string]any{"layers": int64(1), "d_model": int64(8), "d_kv": int64(8), "d_ff": int64(8), "heads": int64(1), "vocabulary": int64(1000)})
	bare := edited(t, f.config["model"], onlyConfig)
	half := "precision: fp16 trains on a CUDA card only; use fp32 or bf16 on a CPU"
	if tensor.CUDADevices() > 0 {
		half = "there is no development query" // what the row below has of its own
	}
	for _, c := range []struct {
		change map[string]any
		want   string
	}{
		{map[string]any{"device": "auto", "precision": "fp16", "queries": of(nq.Train)}, half},
		{map[string]any{"ids": f.set(shifted)}, "ids: the identifiers begin at token 3073; the tokenizer has 3000 tokens and the model 3072 rows for them: make them by atomic_ids with a first_token from 3000 to 3072"},
		{map[string]any{"ids": f.set(f.atomic(2999))}, "ids: the identifiers begin at token 2999; the tokenizer has 3000 tokens"},
		{map[string]any{"ids": f.set(f.atomic(3072, 2))}, "identifier <doc_00> of document 0 ends with token 2, the model's sequences with eos_token_id 1"},
		{map[string]any{"ids": f.set(fewer)}, "document 19 of corpus is not one of the 19 documents of ids: take both from the same collection"},
		{map[string]any{"corpus": f.corpusOf([]string{"one"})}, "document 1 of ids is not in corpus: take both from the same collection"},
		{map[string]any{"ids": f.set(large)}, "of document 3 has token 40000, the model's vocabulary has 3072"},
		{map[string]any{"ids": f.set(open)}, "of document 3 ends with token 6, the model's sequences with eos_token_id 1: make them with the model's tokenizer"},
		{map[string]any{"queries": f.lines([]dedup.Query{{ExampleID: 1, Split: nq.Dev, Question: "who", Doc: 20}})}, "queries: line 1: dev example 1: document 20 of queries is not one of the 20 documents of ids"},
		{map[string]any{"queries": of(nq.Train)}, "there is no development query"},
		{map[string]any{"queries": of(nq.Dev), "ratio": "0:1"}, "the ratio 0:1 needs labeled queries, and there are none"},
		{map[string]any{"model": step.In(small.Outputs["model"])}, "the model's vocabulary has 1000: they do not belong together"},
		{map[string]any{"model": step.In(bare)}, "has none of [model.safetensors model.safetensors.index.json pytorch_model.bin"},
		{map[string]any{"model": f.tree("files", map[string][]byte{"config.json": []byte(`{"model_type":"bert"}`), "pytorch_model.bin": nil})}, "model_type is \"bert\""},
		{map[string]any{"model": f.tree("files", map[string][]byte{"readme": nil})}, "want config.json and, unless init is random, model.safetensors"},
		{map[string]any{"tokenizer": f.blob("files", []byte("{}"))}, "tokenizer: its model is"},
		{map[string]any{"device": "cuda:77"}, `device "cuda:77"`},
		{map[string]any{"learning_rate": 1e30, "steps": int64(9)}, "the loss of step 2 is NaN: training diverged; there is no checkpoint before it; try a lower learning rate"},
		{map[string]any{"learning_rate": 1e30, "steps": int64(9), "evaluate_every": int64(1)}, "after step 1 the model's scores are not finite: training diverged; there is no checkpoint before it"},
		{map[string]any{"learning_rate": 1e30, "steps": int64(9), "evaluate_every": int64(1), "ids": f.set(atomic)}, "after step 1 the model's scores are not finite: training diverged"},
	} {
		f.refuses("train", f.with(c.change), c.want)
		if n := tensor.Live(); n != live {
			t.Errorf("%s: %d tensors are left", c.want, n-live)
			live = n
		}
	}
}

// TestTrainFromConfig: init = "random" needs no weights, and other seeds draw others.
func TestTrainFromConfig(t *testing.T) {
	f := newTraining(t, newLocal(t))
	bare := edited(t, f.config["model"], onlyConfig)
	seen := map[artifacts.Digest]bool{}
	for _, change := range []map[string]any{{}, {"seed": int64(43)}, {"dropout": 0.2}, {"precision": "bf16"}} {
		change["model"], change["init"], change["steps"], change["beams"] = step.In(bare), "random", int64(2), int64(10)
		res := f.made("train", f.with(change))
		seen[digestOf(res.Outputs["model"], "model.safetensors")] = true
	}
	testkit.Is(t, len(seen), 4, "4 configurations gave models")
}

// TestTrainChecks: mistakes in a configuration are told with the attribute. Bounds and choices of one attribute are in
// docs/kinds.
func TestTrainChecks(t *testing.T) {
	in := step.In(artifacts.Artifact{Type: "files", Digest: artifacts.Sum([]byte("x"))})
	whole := map[string]map[string]any{
		"naive_ids":  {"documents": in, "tokenizer": in, "budget": int64(9)},
		"compare":    {"systems": map[string]any{"a.b": in, "c.d": in, "e:f": in}, "baselines": []any{"a.b"}},
		"export_run": {"runs": map[string]any{"x y": in, "a b": in}, "documents": in, "queries": in},
		"train":      {"model": in, "ids": in, "corpus": in, "queries": in, "tokenizer": in},
		"random_t5":  {"layers": int64(1), "d_model": int64(8), "d_kv": int64(8), "d_ff": int64(8), "heads": int64(1)},
	}
	for _, c := range []struct {
		kind string
		bad  map[string]any
		want string // "" if nothing is wrong
	}{
		{"train", nil, ""},
		{"train", map[string]any{"ratio": "32:1", "select": "Recall@100", "dropout": 0.0, "precision": "fp16", "init": "random", "device": "cuda:1", "checkpoint_every": int64(7)}, ""},
		{"train", map[string]any{"index_prefix": "", "query_prefix": "", "scale_parameter": false, "repeats": "by_queries", "ratio": "1:1"}, ""},
		{"train", map[string]any{"repeats": "by_queries"}, `repeats: by_queries applies only to ratio = "1:1"; with ratio = "natural" use uniform`},
		{"train", map[string]any{"repeats": "by_queries", "ratio": "32:1"}, `repeats: by_queries applies only to ratio = "1:1"; with ratio = "32:1" use uniform`},
		{"train", map[string]any{"optimizer": "adamw", "weight_decay": 0.01, "beta1": 0.8, "beta2": 0.98, "epsilon": 1e-6, "schedule": "cosine", "accumulate": int64(4), "clip_norm": 1.0, "label_smoothing": 0.1, "patience": int64(3), "keep_state": true, "checkpoint_activations": true}, ""},
		{"train", map[string]any{"weight_decay": 0.01, "beta1": 0.8}, `weight_decay: applies only to optimizer = "adamw"; here optimizer is "adafactor"; beta1: applies only to optimizer = "adamw"; here optimizer is "adafactor"`},
		{"train", map[string]any{"optimizer": "adamw", "scale_parameter": false}, `scale_parameter: applies only to optimizer = "adafactor"; here optimizer is "adamw"`},
		{"train", map[string]any{"batch": int64(4), "accumulate": int64(5)}, "accumulate: a batch of 4 examples cannot be cut into 5 parts"},
		{"train", map[string]any{"learning_rate": math.Inf(1)}, "learning_rate: want number, got the number +Inf"},
		{"train", map[string]any{"ratio": "1:0"}, `ratio: indexing-to-retrieval ratio "1:0": it is "natural" or a:b with a ≥ 0 and b ≥ 1, such as "1:1", "32:1" or "0:1"`},
		{"train", map[string]any{"select": "loss"}, `select: metric "loss" is unknown; there are Hits@k, MRR, MRR@k, nDCG, nDCG@k, AP, AP@k, P@k, Recall@k, Rprec, IPrec@recall, RBP, RBP@k, ERR, ERR@k, Bpref, Judged, Judged@k, Invalid@k`},
		{"train", map[string]any{"select": "Invalid@40"}, "select: lower values of Invalid@40 are better; choose another, such as MRR@10 or Hits@1"},
		{"train", map[string]any{"device": "gpu"}, "device: must be auto, cpu, cuda or cuda:N"},
		{"train", map[string]any{"device": "cpu", "precision": "fp16"}, "precision: fp16 trains on a CUDA device only; use fp32 or bf16, or another device"},
		{"naive_ids", map[string]any{"budget": int64(0), "times": 0.5}, "times: want 1 or more: every document needs a number"},
		{"naive_ids", map[string]any{"times": 2.0}, "budget: give exactly one of budget and times"},
		{"compare", nil, ""},
		{"export_run", nil, `runs: "a b" is not a file name of one word; runs: "x y" is not a file name of one word`},
		{"random_t5", nil, ""},
		{"random_t5", map[string]any{"decoder_layers": int64(3), "feed_forward": "gated-gelu", "dropout": 0.0}, ""},
		{"random_t5", map[string]any{"family": "bart", "vocabulary": int64(50265)}, ""},
		{"random_t5", map[string]any{"family": "bart", "d_kv": int64(3), "feed_forward": "gated-gelu"}, "d_kv: for BART, heads x d_kv must be d_model; feed_forward: a BART has its own"},
	} {
		config := maps.Clone(whole[c.kind])
		maps.Copy(config, c.bad)
		_, err := kinds.Registry().Lookup(c.kind).Complete(config)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s %v:\n got %v\nwant %s", c.kind, c.bad, err, c.want)
		}
	}
}

// TestTrainKey: how a training is computed is not part of its key where its result is the
// same: nor is where, nor with how little memory.
func TestTrainKey(t *testing.T) {
	in := step.In(artifacts.Artifact{Type: "files", Digest: artifacts.Sum([]byte("x"))})
	key := func(more map[string]any) artifacts.Digest {
		t.Helper()
		config := map[string]any{"model": in, "ids": in, "corpus": in, "queries": in, "tokenizer": in}
		maps.Copy(config, more)
		reg := kinds.Registry()
		tree := testkit.Value(reg.Lookup("train").Complete(config))(t)
		_, k, _ := keyOf(t, reg, "train", tree)
		return k
	}
	plain := key(nil)
	for _, same := range []map[string]any{{"checkpoint_activations": true}, {"checkpoint_activations": false}, {"device": "cuda:1"}, {"checkpoint_every": int64(3)}} {
		testkit.Is(t, key(same), plain, same)
	}
	if key(map[string]any{"accumulate": int64(2)}) == plain {
		t.Error("accumulate, which rounds otherwise, does not move the key")
	}
}

// TestOrderOfIdentifiers: a file of identifiers in another order gives the same model
// and the same evaluation, since documents are paired with them by name.
func TestOrderOfIdentifiers(t *testing.T) {
	f := newTraining(t, newLocal(t))
	ids := f.ids(docid.KindNaive)
	turned := &docid.Set{Kind: ids.Kind, Identifiers: slices.Clone(ids.Identifiers)}
	slices.Reverse(turned.Identifiers)
	var weights, qrels, runs []string
	for _, set := range []*docid.Set{ids, turned} {
		res := f.made("train", f.with(map[string]any{"ids": f.set(set), "steps": int64(4), "beams": int64(5)}))
		weights = append(weights, digestOf(res.Outputs["model"], "model.safetensors").Hex())
		e := &asked{local: f.local, ids: set, config: map[string]any{"model": step.In(res.Outputs["model"]), "ids": f.set(set),
			"queries": f.config["queries"], "tokenizer": f.config["tokenizer"], "device": "cpu", "decoding": "constrained"}}
		out := e.evaluate(nil)
		qrels, runs = append(qrels, out["qrels"]), append(runs, out["run"])
	}
	if weights[0] != weights[1] || qrels[0] != qrels[1] || runs[0] != runs[1] {
		t.Errorf("models %v, judgments\n%s\nand\n%s", weights, qrels[0], qrels[1])
	}
}

// TestEvaluateSeveralDocuments: a query with two relevant documents is asked once, and the
// first of them that is found counts.
func TestEvaluateSeveralDocuments(t *testing.T) {
	e := newAsked(t, docid.KindAtomic)
	for _, documents := range [][]int32{{7}, {19}, {7, 19}, {19, 7}} {
		e.queries = nil
		var qrels string
		for _, d := range documents {
			e.queries = append(e.queries, dedup.Query{ExampleID: 5, Split: nq.Dev, Question: "who sings", Doc: d})
			qrels += "5 0 " + strconv.Itoa(int(d)) + " 1\n"
		}
		out := e.evaluate(map[string]any{"queries": e.lines(e.queries), "beams": int64(30)})
		var r evaluationReport
		testkit.None(t, json.Unmarshal([]byte(out["report"]), &r))
		if want, _ := e.scored(out, "post_filtered", 30); r.Queries != 1 || out["qrels"] != qrels || !maps.Equal(r.Percent.PostFiltered, want.Percent) {
			t.Errorf("%v: %s %s, want %+v", documents, out["qrels"], out["report"], want)
		}
	}
}

// TestTrainSeveralDocuments: training judges such queries as an evaluate step does.
func TestTrainSeveralDocuments(t *testing.T) {
	f := newTraining(t, newLocal(t))
	var queries []dedup.Query
	for _, q := range f.queries {
		queries = append(queries, q)
		if q.Doc%3 == 0 {
			q.Doc = (q.Doc + 5) % trainedDocuments
			queries = append(queries, q)
		}
	}
	f.config["queries"] = f.lines(queries)
	ids := f.ids(docid.KindAtomic)
	res := f.made("train", f.with(map[string]any{"ids": f.set(ids), "steps": int64(20), "evaluate_every": int64(20)}))
	var r trained
	f.json(res.Outputs["report"], &r)
	if want := len(slices.DeleteFunc(queries, func(q dedup.Query) bool { return q.Split != nq.Train })); r.Retrieval != want {
		t.Errorf("%d retrieval examples, want one for each document of a query: %d", r.Retrieval, want)
	}
	e := &asked{local: f.local, ids: ids, config: map[string]any{"model": step.In(res.Outputs["model"]), "ids": f.set(ids),
		"queries": f.config["queries"], "tokenizer": f.config["tokenizer"], "device": "cpu"}}
	var report evaluationReport
	testkit.None(t, json.Unmarshal([]byte(e.evaluate(nil)["report"]), &report))
	if p := report.Percent.PostFiltered; report.Queries != trainedDocuments || !close(p["mrr_10"], 100*r.Metrics["MRR@10"]) || !close(p["hits_10"], 100*r.Metrics["Hits@10"]) {
		t.Errorf("evaluate says %+v, train %+v", report, r)
	}
}

// training is a hand-made collection of 20 documents. Each has words of its own,
// that its three training queries and its development query ask with, in other
// combinations.
type training struct {
	*local
	tok     *subword.Subword
	encode  docid.Encoder
	words   int32 // tokens of the tokenizer
	rows    int32 // of the model's embedding
	queries []dedup.Query
	config  map[string]any // of a train step with naive identifiers
}

const trainedDocuments = 20

// t5Tokenizer is T5's own.
var t5Tokenizer = filepath.Join("..", "assets", "tokenizers", "t5-tokenizer.json.gz")

// newTraining is with a small T5, whose tokens are the first 3,000 of T5's: most of what a tenth of
// the rows saves is time.
func newTraining(t *testing.T, l *local) *training {
	t.Helper()
	return newTrainingOf(t, l, fewerTokens(t, 3000), map[string]any{"vocabulary": int64(3072)})
}

// pieces are the texts that fewerTokens has made, by number.
var pieces sync.Map

// fewerTokens is a file of T5's tokenizer with its first n pieces, which have every letter.
func fewerTokens(t *testing.T, n int) string {
	t.Helper()
	text, ok := pieces.Load(n)
	if !ok {
		var all map[string]any
		goldens.JSON(t, t5Tokenizer, &all)
		model := all["model"].(map[string]any)
		model["vocab"] = model["vocab"].([]any)[:n]
		all["added_tokens"] = all["added_tokens"].([]any)[:3] // <pad>, </s>, <unk>
		text = testkit.Value(json.Marshal(all))(t)
		pieces.Store(n, text)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	testkit.Write(t, path, text.([]byte))
	return path
}

// newBARTTraining is with a small BART, whose tokens are those of a small byte-level BPE:
// more for a text than T5's. It has 600, the embedding 40 rows more.
func newBARTTraining(t *testing.T, l *local) *training {
	t.Helper()
	f := newTrainingOf(t, l, filepath.Join("..", "internal", "model", "subword", "testdata", "bart-tokenizer.json"),
		map[string]any{"family": "bart", "vocabulary": int64(640)})
	f.config["max_input"], f.config["learning_rate"] = int64(48), 2e-2 // BART's first weights are small, so are its scaled steps
	return f
}

// newTrainingOf is with a small random model of options.
func newTrainingOf(t *testing.T, l *local, tokenizer string, options map[string]any) *training {
	t.Helper()
	tensor.SetNumThreads(1)
	tok := testkit.Value(subword.LoadSubword(tokenizer))(t)
	t.Cleanup(func() { tok.Close() })
	f := &training{local: l, tok: tok, encode: tok.EncodeBatch, words: int32(tok.VocabSize()), rows: 32_128}
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	id := int64(0)
	ask := func(split nq.Split, doc int, text string, args ...any) {
		id++
		f.queries = append(f.queries, dedup.Query{ExampleID: id, Split: split, Question: fmt.Sprintf(text, args...), Doc: int32(doc)})
	}
	for doc := range trainedDocuments {
		w := make([]any, 4)
		for i := range w {
			word := ""
			for range 3 {
				word += string("bdfgklmnprstvz"[r.IntN(14)]) + string("aeiou"[r.IntN(5)])
			}
			w[i] = word
		}
		//lint:ignore SA5009 w has four words
		texts = append(texts, fmt.Sprintf("%s %s is a %s of the %s kind", w...))
		ask(nq.Train, doc, "who made %s %s", w[0], w[1])
		ask(nq.Train, doc, "where is the %s near %s", w[1], w[2])
		ask(nq.Train, doc, "what %s has a %s", w[3], w[0])
		ask(nq.Dev, doc, "tell me of %s and %s", w[0], w[2])
	}
	sizes := map[string]any{"layers": int64(1), "d_model": int64(32), "d_kv": int64(8), "d_ff": int64(64), "heads": int64(4)}
	maps.Copy(sizes, options)
	if n, ok := options["vocabulary"]; ok {
		f.rows = int32(n.(int64))
	}
	toy := l.made("random_t5", sizes)
	f.config = map[string]any{
		"model": step.In(toy.Outputs["model"]), "ids": f.set(f.ids(docid.KindNaive)), "corpus": f.corpusOf(texts), "queries": f.lines(f.queries),
		"tokenizer": f.blob("files", readFile(t, tokenizer)), "device": "cpu",
		"max_input": int64(16), "batch": int64(16), "learning_rate": 1e-2, "dropout": 0.0,
	}
	return f
}

// atomic are the collection's identifiers from a token on.
func (f *training) atomic(first int32, eos ...int32) *docid.Set {
	f.t.Helper()
	set := testkit.Value(docid.Atomic(f.names(), first, eos...))(f.t)
	return set
}

func (f *training) names() []string {
	names := make([]string, trainedDocuments)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// ids are the collection's identifiers; those of embeddings are of random vectors.
func (f *training) ids(kind docid.Kind) *docid.Set {
	f.t.Helper()
	names := f.names()
	r := rand.New(rand.NewPCG(3, 4))
	vectors := npy.Matrix{Rows: len(names), Cols: 8, Data: make([]float32, 8*len(names))}
	for i := range vectors.Data {
		vectors.Data[i] = float32(r.NormFloat64())
	}
	var set *docid.Set
	var err error
	switch kind {
	case docid.KindAtomic:
		set = f.atomic(f.rows)
	case docid.KindNaive:
		set, err = docid.Naive(names, 1000, 42, docid.GeneratorPCG, f.encode)
	case docid.KindSemantic:
		set, _, err = docid.Semantic(context.Background(), names, vectors, docid.SemanticOptions{Clusters: 10, LeafSize: 5, Seed: 42}, f.encode)
	case docid.KindResidual: // some documents have equal codes
		set, _, err = docid.Residual(context.Background(), names, vectors, docid.ResidualOptions{Levels: 2, Codes: 4, FirstToken: f.rows, EOS: 1, Seed: 42})
	case docid.KindTitle, docid.KindKeyword, docid.KindOther: // some are equal, but for a number
		titles := make([]string, len(names))
		for i := range titles {
			titles[i] = "The " + []string{"Sea", "Hill", "Song"}[i%3] + []string{"", " of Kings"}[i%2]
		}
		set, _, err = docid.Title(docid.KindTitle, names, titles, 8, f.tok)
		set.Kind = kind
	}
	testkit.None(f.t, err)
	return set
}

// with is the train step with some attributes changed; of two changes the first
// counts.
func (f *training) with(changes ...map[string]any) map[string]any {
	config := maps.Clone(f.config)
	for _, c := range slices.Backward(changes) {
		maps.Copy(config, c)
	}
	return config
}

// edited is the tree of an input with other files.
func edited(t *testing.T, input any, change func([]artifacts.File) []artifacts.File) artifacts.Artifact {
	t.Helper()
	was := input.(step.Input).Artifact
	tree := testkit.Value(artifacts.Tree(was.Type, change(slices.Clone(was.Files))))(t)
	return tree
}

// onlyConfig leaves of a model's files what its weights are not.
func onlyConfig(files []artifacts.File) []artifacts.File {
	return slices.DeleteFunc(files, func(f artifacts.File) bool { return f.Name != "config.json" })
}
