package kinds_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/doc2query"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// generation is the collection of training, with keys D0, D1, … and a model that writes
// queries for it.
func (f *training) generation(model step.Input) map[string]any {
	f.t.Helper()
	var docs []dedup.Document
	for i := range trainedDocuments {
		docs = append(docs, dedup.Document{Doc: int32(i), Key: "D" + strconv.Itoa(i), ExampleID: int64(i), Split: nq.Train})
	}
	return map[string]any{"documents": f.blob("nq/documents", compressed(f.t, docs)), "queries": f.config["queries"], "corpus": f.config["corpus"],
		"model": model, "tokenizer": f.config["tokenizer"], "device": "cpu", "max_tokens": int64(24)}
}

func (l *local) queriesOf(r *artifacts.Result) (out []dedup.Query) {
	l.t.Helper()
	err := dedup.ReadQueries(bytes.NewReader(l.bytes(r.Outputs["queries"])), -1, func(q *dedup.Query) error {
		out = append(out, *q)
		return nil
	})
	testkit.None(l.t, err)
	return out
}

// TestGenerateQueries: a model that is trained on a collection's own queries writes some
// of their words for other documents, the same ones whatever is computed together; what it
// writes follows the own queries, and a model that is trained on it alone finds documents.
func TestGenerateQueries(t *testing.T) {
	live := tensor.Live()
	f := newTraining(t, newLocal(t))
	writer := map[string]any{"model": f.config["model"], "corpus": f.config["corpus"], "queries": f.config["queries"], "tokenizer": f.config["tokenizer"],
		"device": "cpu", "steps": int64(45), "batch": int64(16), "evaluate_every": int64(15), "learning_rate": 1e-2, "dropout": 0.0, "max_input": int64(16)}
	wrote := f.made("train_queries", writer)
	var report struct {
		Loss float64 `json:"dev_loss"`
		Best int64   `json:"best_step"`
	}
	f.says(wrote.Outputs["report"], map[string]any{"examples": 3. * trainedDocuments, "dev_examples": 1. * trainedDocuments})
	if f.json(wrote.Outputs["report"], &report); !(report.Loss > 0 && report.Loss < 8) || report.Best%15 != 0 {
		t.Errorf("report %+v", report)
	}
	var curve struct {
		Points []struct{ Metrics map[string]float64 }
	}
	f.json(wrote.Outputs["curve"], &curve)
	if n := len(curve.Points); n != 3 || curve.Points[2].Metrics["likelihood"] < 2*curve.Points[0].Metrics["likelihood"] {
		t.Errorf("curve %+v", curve)
	}

	config := f.generation(step.In(wrote.Outputs["model"]))
	first := testkit.Value(f.inParts("generate_queries", config))(t)
	var made doc2query.Report
	f.json(first.Outputs["report"], &made)
	if made.Generated != 5*trainedDocuments || made.Kept+made.Leaks+made.Repeated+made.InTraining+made.Empty != made.Generated || made.Kept < trainedDocuments || made.Train != 3*trainedDocuments {
		t.Errorf("report %+v", made)
	}
	queries := f.queriesOf(first)
	if own := queries[:len(f.queries)]; !reflect.DeepEqual(own, f.queries) || len(queries) != len(own)+made.Kept {
		t.Errorf("%d queries, of which the first are not the own ones", len(queries))
	}
	for _, q := range queries[len(f.queries):] {
		if q.Split != nq.Train || !strings.HasPrefix(q.Name, fmt.Sprintf("generated-%d-", q.Doc)) || q.ExampleID <= int64(len(f.queries)) || q.Question == "" {
			t.Errorf("generated %+v", q)
		}
	}
	again := testkit.Value(f.inParts("generate_queries", changed(config, map[string]any{"batch": int64(3), "shard": int64(7)})))(t)
	testkit.Deep(t, f.queriesOf(again), queries)
	for name, change := range map[string]map[string]any{"seed": {"seed": int64(1)}, "top_k": {"top_k": int64(1)}, "temperature": {"temperature": 3.0},
		"beam": {"method": "beam"}, "max_input": {"max_input": int64(1)}} {
		r := testkit.Value(f.inParts("generate_queries", changed(config, change)))(t)
		if reflect.DeepEqual(f.queriesOf(r), queries) {
			t.Errorf("%s changes nothing", name)
		}
	}

	for _, precision := range []string{"bf16", "int8"} {
		r := testkit.Value(f.inParts("generate_queries", changed(config, map[string]any{"precision": precision})))(t)
		f.json(r.Outputs["report"], &made)
		if made.Generated != 5*trainedDocuments || made.Kept < trainedDocuments {
			t.Errorf("report in %s %+v", precision, made)
		}
	}

	config["keep_train"] = false
	alone := testkit.Value(f.inParts("generate_queries", config))(t)
	for _, q := range f.queriesOf(alone) {
		if q.Split == nq.Train && !strings.HasPrefix(q.Name, "generated-") {
			t.Fatalf("own training query %+v", q)
		}
	}
	res := f.made("train", f.with(map[string]any{"queries": step.In(alone.Outputs["queries"]), "ratio": "0:1", "steps": int64(40), "evaluate_every": int64(40)}))
	var learned trained
	f.json(res.Outputs["report"], &learned)
	if learned.Retrieval < trainedDocuments {
		t.Errorf("trained on %+v", learned)
	}
	testkit.Is(t, tensor.Live(), live, "tensors are left")
}

// TestBroughtQueries: queries that others generated, as JSON lines or columns.
func TestBroughtQueries(t *testing.T) {
	f := newTraining(t, newLocal(t))
	base := f.generation(step.Input{})
	for _, name := range []string{"model", "corpus", "tokenizer"} {
		delete(base, name)
	}
	brought := func(change map[string]any, files ...string) (*artifacts.Result, error) {
		named := map[string][]byte{}
		for i, text := range files {
			named[fmt.Sprintf("queries-%d", i)] = []byte(text)
		}
		return f.inParts("generate_queries", changed(base, map[string]any{"files": f.tree("files", named)}, change))
	}
	dev := f.queries[3] // of document 0
	for name, c := range map[string]struct {
		change map[string]any
		files  []string
	}{
		"JSON lines": {nil, []string{`{"text_id":"D4","text":"b"}` + "\n" + `{"id":"D2","queries":["a","A!","c"]}` + "\n", fmt.Sprintf(`{"doc_id":"D9","query":%q}`, dev.Question)}},
		"columns":    {map[string]any{"names": "number"}, []string{"4\tb\n2\ta\n2\tA!\n\n2\tc\n9\t" + dev.Question + "\n"}},
	} {
		r := testkit.Value(brought(c.change, c.files...))(t)
		last := int64(len(f.queries))
		want := []dedup.Query{
			{ExampleID: last + 1, Split: nq.Train, Question: "a", Doc: 2, Name: "generated-2-0"},
			{ExampleID: last + 2, Split: nq.Train, Question: "c", Doc: 2, Name: "generated-2-2"},
			{ExampleID: last + 3, Split: nq.Train, Question: "b", Doc: 4, Name: "generated-4-0"},
		}
		testkit.Deep(t, f.queriesOf(r)[last:], want, name)
		var report doc2query.Report
		f.json(r.Outputs["report"], &report)
		if report.Leaks != 1 || report.Leaked[0] != dev.Question || report.Repeated != 1 || report.WithQueries != 2 || report.Documents != trainedDocuments {
			t.Errorf("%s: %+v", name, report)
		}
	}
	for _, c := range []struct {
		change map[string]any
		file   string
		want   string
	}{
		{nil, "D99\ta\n", `queries-0, line 1: "D99" is not one of the 20 documents`},
		{nil, "{\"document\":\"D1\"}\n", `queries-0, line 1: document "D1" has no query there`},
		{nil, "{\"document\":\"D1\",\"queries\":\"a\"}\n", "field queries is not the expected list"},
		{nil, "D1\n", "queries-0, line 1: want a document's name, a tab"},
		{nil, "D1\t?\n", "none of the 1 generated queries can be kept"},
		{map[string]any{"model": f.config["model"]}, "D1\ta\n", "set either model, which generates queries, or files"},
		{map[string]any{"top_p": 0.0}, "D1\ta\n", "top_p"},
		{map[string]any{"method": "beam", "beams": int64(2)}, "D1\ta\n", "beams"},
	} {
		testkit.ErrSays(t, testkit.Err(brought(c.change, c.file)), c.want)
	}
}

// TestTrainQueriesErrors names what is missing.
func TestTrainQueriesErrors(t *testing.T) {
	f := newTraining(t, newLocal(t))
	config := map[string]any{"model": f.config["model"], "corpus": f.config["corpus"], "queries": f.config["queries"], "tokenizer": []any{f.config["tokenizer"]}, "device": "cpu", "steps": int64(1)}
	only := func(split nq.Split) step.Input {
		return f.lines(slices.DeleteFunc(slices.Clone(f.queries), func(q dedup.Query) bool { return q.Split != split }))
	}
	for want, change := range map[string]map[string]any{
		"no training query":    {"queries": only(nq.Dev)},
		"no development query": {"queries": only(nq.Train)},
		"is not in corpus":     {"corpus": f.corpusOf([]string{"a"})},
	} {
		f.refuses("train_queries", changed(config, change), want)
	}
	mistakes(t, "train_queries", config, map[string]map[string]any{
		"steps": {"steps": int64(0)}, "learning_rate": {"learning_rate": 0.0}, "dropout": {"dropout": 1.0}, "device": {"device": "tpu"}, "dev_queries": {"dev_queries": int64(-1)},
	})
}
