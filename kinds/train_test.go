package kinds_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/errtest"
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
			if err != nil {
				t.Fatalf("%s, from %d: %v", name, first, err)
			}
			var r trained
			f.json(res.Outputs["report"], &r)
			if first == f.words {
				parameters = r.Parameters
				if digestOf(res.Outputs["model"], "model.safetensors") != before {
					t.Errorf("%s: identifiers that find their rows change the model", name)
				}
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
		res, err := f.do("train", f.with(map[string]any{"ids": f.set(ids), "steps": steps, "evaluate_every": steps / 4}))
		errtest.None(t, err)
		if n := tensor.Live(); n != live {
			t.Errorf("%s: %d tensors are left", kind, n-live)
		}
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
	if len(sizes) != 1 {
		t.Errorf("the models differ by more than their vocabulary: %v parameters", slices.Collect(maps.Keys(sizes)))
	}
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
	names := []string{"Hits@1", "Hits@10", "Invalid@40", "MRR@10"}
	if !kind.CanBeInvalid() {
		names = []string{"Hits@1", "Hits@10", "MRR@10"}
	}
	if got := slices.Sorted(keysOf(r.Metrics)); !slices.Equal(got, names) {
		f.t.Errorf("%s: metrics %v", kind, got)
	}
	events := f.bytes(res.Outputs["events"])
	if n := binary.LittleEndian.Uint64(events); n == 0 || n > 100 {
		f.t.Errorf("%s: the first event has %d bytes", kind, n)
	}
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
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
	if err != nil || settings != want {
		f.t.Errorf("settings %+v, %v", settings, err)
	}
	e := &asked{local: f.local, ids: ids, config: map[string]any{
		"model": step.In(res.Outputs["model"]), "ids": f.set(ids), "queries": f.config["queries"], "tokenizer": f.config["tokenizer"], "device": "cpu"}}
	var report struct {
		Percent struct {
			PostFiltered struct {
				Hits1 float64 `json:"hits_1"`
				MRR10 float64 `json:"mrr_10"`
			} `json:"post_filtered"`
			Invalid *float64 `json:"invalid_40"`
		}
		Parameters int64
	}
	errtest.None(f.t, json.Unmarshal([]byte(e.evaluate(nil)["report"]), &report))
	p := report.Percent
	if !close(p.PostFiltered.MRR10, 100*r.Metrics["MRR@10"]) || !close(p.PostFiltered.Hits1, 100*r.Metrics["Hits@1"]) || report.Parameters != r.Parameters {
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
	free := p.PostFiltered.MRR10
	errtest.None(f.t, json.Unmarshal([]byte(e.evaluate(map[string]any{"decoding": "constrained"})["report"]), &report))
	if p := report.Percent; *p.Invalid != 0 || p.PostFiltered.MRR10 < free-5 {
		f.t.Errorf("%s: along the trie %v are invalid and MRR@10 is %v, of free beams %v", ids.Kind, *p.Invalid, p.PostFiltered.MRR10, free)
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
	errtest.None(t, err)
	var state struct{ Pass, Indexing int }
	errtest.None(t, json.Unmarshal(f.checkpointFile(f.checkpointNames()[0], "state.json"), &state))
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
	small, err := f.do("random_t5", map[string]any{"layers": int64(1), "d_model": int64(8), "d_kv": int64(8), "d_ff": int64(8), "heads": int64(1), "vocabulary": int64(1000)})
	errtest.None(t, err)
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
		_, err := f.do("train", f.with(c.change))
		var told *temporal.ApplicationError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &told) || !told.NonRetryable() {
			t.Errorf("error %v, want %q, for good", err, c.want)
		}
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
		res, err := f.do("train", f.with(change))
		errtest.None(t, err)
		seen[digestOf(res.Outputs["model"], "model.safetensors")] = true
	}
	if len(seen) != 4 {
		t.Errorf("4 configurations gave %d models", len(seen))
	}
}
