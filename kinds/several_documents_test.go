package kinds_test

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// TestEvaluateSeveralDocuments: a query with two relevant documents is asked once, and the
// first of them that is found counts.
func TestEvaluateSeveralDocuments(t *testing.T) {
	e := newAsked(t, docid.KindAtomic)
	ranks := func(out map[string]string, document string) float64 {
		for line := range strings.Lines(out["run"]) {
			if f := strings.Fields(line); f[2] == document {
				rank, err := strconv.ParseFloat(f[3], 64)
				errtest.None(t, err)
				return rank
			}
		}
		t.Fatalf("document %s is not ranked", document)
		return 0
	}
	for _, documents := range [][]int32{{7}, {19}, {7, 19}, {19, 7}} {
		var queries []dedup.Query
		var qrels string
		for _, d := range documents {
			queries = append(queries, dedup.Query{ExampleID: 5, Split: nq.Dev, Question: "who sings", Doc: d})
			qrels += "5 0 " + strconv.Itoa(int(d)) + " 1\n"
		}
		out := e.evaluate(map[string]any{"queries": e.lines(queries), "beams": int64(30)})
		var r evaluationReport
		errtest.None(t, json.Unmarshal([]byte(out["report"]), &r))
		best := math.Inf(1)
		for _, d := range documents {
			best = min(best, ranks(out, strconv.Itoa(int(d))))
		}
		want := percentages{}
		want.add(int(best), 1)
		if r.Queries != 1 || out["qrels"] != qrels || !r.Percent.PostFiltered.equals(want) {
			t.Errorf("%v: %s %s, the best rank is %v", documents, out["qrels"], out["report"], best)
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
	res, err := f.do("train", f.with(map[string]any{"ids": f.set(ids), "steps": int64(20), "evaluate_every": int64(20)}))
	errtest.None(t, err)
	var r trained
	f.json(res.Outputs["report"], &r)
	if want := len(slices.DeleteFunc(queries, func(q dedup.Query) bool { return q.Split != nq.Train })); r.Retrieval != want {
		t.Errorf("%d retrieval examples, want one for each document of a query: %d", r.Retrieval, want)
	}
	e := &asked{local: f.local, ids: ids, config: map[string]any{"model": step.In(res.Outputs["model"]), "ids": f.set(ids),
		"queries": f.config["queries"], "tokenizer": f.config["tokenizer"], "device": "cpu"}}
	var report evaluationReport
	errtest.None(t, json.Unmarshal([]byte(e.evaluate(nil)["report"]), &report))
	if p := report.Percent.PostFiltered; report.Queries != trainedDocuments || !close(p.MRR10, 100*r.Metrics["MRR@10"]) || !close(p.Hits10, 100*r.Metrics["Hits@10"]) {
		t.Errorf("evaluate says %+v, train %+v", report, r)
	}
}
