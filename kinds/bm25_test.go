package kinds_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// askedOfRivers is a small collection with a query of two documents, one that finds nothing,
// and train queries.
func (l *local) askedOfRivers() (corpus, queries step.Input) {
	corpus = l.corpusOf([]string{"The Rhine is a river in Europe.", "Rivers' deltas: the Nile's delta.", "Paris lies on the Seine.", "the", "Paris lies on the Seine."})
	queries = l.lines([]dedup.Query{
		{ExampleID: 1, Split: nq.Train, Question: "longest waterway of Africa", Doc: 1},
		{ExampleID: 2, Split: nq.Dev, Question: "river delta", Doc: 1, Grade: 2},
		{ExampleID: 2, Split: nq.Dev, Question: "river delta", Doc: 0},
		{ExampleID: 3, Split: nq.Dev, Question: "the of", Doc: 2},
		{ExampleID: 4, Split: nq.Dev, Question: "waterway at Paris", Doc: 4},
		{ExampleID: 5, Split: nq.Test, Question: "where is capital punishment", Doc: 4},
	})
	return corpus, queries
}

// ranked is the run of a step, by query, and its report.
func (l *local) ranked(kind string, config map[string]any) (map[string]string, map[string]any, error) {
	l.t.Helper()
	res, err := l.do(kind, config)
	if err != nil {
		return nil, nil, err
	}
	rankings, err := trec.ReadRun(bytes.NewReader(l.bytes(res.Outputs["run"])))
	errtest.None(l.t, err)
	out := map[string]string{}
	for _, r := range rankings {
		out[r.Query] = strings.Join(metrics.Documents(&r), " ")
	}
	report := map[string]any{}
	l.json(res.Outputs["report"], &report)
	return out, report, nil
}

// TestBM25 finds documents by their words, and by the train queries that are appended to
// them; equal documents go by number.
func TestBM25(t *testing.T) {
	l := newLocal(t)
	corpus, queries := l.askedOfRivers()
	run, report, err := l.ranked("bm25", map[string]any{"corpus": corpus, "queries": queries})
	errtest.None(t, err)
	if len(run) != 2 || run["2"] != "1 0" || run["4"] != "2 4" {
		t.Errorf("run %v", run)
	}
	for field, want := range map[string]any{"documents": 5., "empty_documents": 1., "queries": 3., "queries_without_hit": 1., "hits": 4., "appended_queries": 0., "tokens": 13.} {
		if report[field] != want {
			t.Errorf("%s is %v, want %v", field, report[field], want)
		}
	}
	run, report, err = l.ranked("bm25", map[string]any{"corpus": corpus, "queries": queries, "expand": []any{queries}, "depth": int64(1)})
	errtest.None(t, err)
	if run["4"] != "1" || report["appended_queries"] != 1. || report["expanded_documents"] != 1. {
		t.Errorf("expanded: run %v, report %v", run, report)
	}
	res, err := l.do("bm25", map[string]any{"corpus": corpus, "queries": queries})
	errtest.None(t, err)
	if got, want := string(l.bytes(res.Outputs["qrels"])), "2 0 1 2\n2 0 0 1\n3 0 2 1\n4 0 4 1\n"; got != want {
		t.Errorf("qrels %q, want %q", got, want)
	}
}

// TestBM25Options: what an attribute says reaches the ranking.
func TestBM25Options(t *testing.T) {
	l := newLocal(t)
	corpus, queries := l.askedOfRivers()
	for _, c := range []struct {
		config map[string]any
		want   string // of query 2
	}{
		{map[string]any{"tokenizer": "words", "k1": 0.}, "0 1"},
		{map[string]any{"tokenizer": "words", "stemmer": "english"}, "1 0"},
		{map[string]any{"tokenizer": "whitespace", "formula": "okapi"}, "0"},
		{map[string]any{"formula": "bm25+", "delta": 0.1, "k1": 1.5, "b": 0.75}, "1 0"},
		{map[string]any{"lengths": "exact"}, "1 0"},
		{map[string]any{"split": "train"}, ""},
	} {
		c.config["corpus"], c.config["queries"] = corpus, queries
		run, _, err := l.ranked("bm25", c.config)
		errtest.None(t, err)
		if run["2"] != c.want {
			t.Errorf("%v: %q, want %q", c.config, run["2"], c.want)
		}
	}
	for want, config := range map[string]map[string]any{
		"depth":     {"depth": int64(0)},
		"delta":     {"delta": 1.},
		"stopwords": {"stopwords": "none"},
		"klingon":   {"tokenizer": "words", "stemmer": "klingon"},
		"byte":      {"formula": "atire", "lengths": "lucene"},
		"k1":        {"k1": -1.},
		"lacks":     {"absent": true},
	} {
		config["corpus"], config["queries"] = corpus, queries
		if _, err := l.Registry.Lookup("bm25").Complete(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", config, err, want)
		}
	}
}

// TestBM25OtherCollection: what is not of one collection is an error that trying again does
// not mend.
func TestBM25OtherCollection(t *testing.T) {
	l := newLocal(t)
	corpus, queries := l.askedOfRivers()
	for want, config := range map[string]map[string]any{
		"document 9":         {"queries": l.lines([]dedup.Query{{ExampleID: 1, Split: nq.Dev, Question: "q", Doc: 9}})},
		"document 7":         {"expand": []any{l.lines([]dedup.Query{{ExampleID: 1, Split: nq.Train, Question: "q", Doc: 7}, {ExampleID: 2, Split: nq.Train, Question: "q", Doc: 8}})}},
		"document 2 where 1": {"corpus": l.numbered(map[int32]string{0: "a", 2: "b"}, 0, 2)},
	} {
		for k, v := range map[string]any{"corpus": corpus, "queries": queries} {
			if config[k] == nil {
				config[k] = v
			}
		}
		var app *temporal.ApplicationError
		if _, err := l.do("bm25", config); !errors.As(err, &app) || !app.NonRetryable() || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q, permanent", err, want)
		}
	}
}

// TestBM25Study: of examples/bm25_nq320k.hcl each setting is that of its column, what the paper's
// pipeline ranks too has the same ranking, and a published number stands beside the nearest cell.
func TestBM25Study(t *testing.T) {
	l := newLocal(t)
	const file = "../examples/bm25_nq320k.hcl"
	pl := l.plan(file, map[string]string{"scale": "toy", "keys": `["title"]`, "texts": `["simple_norm", "html_norm"]`})
	out := l.outputsOf(pl)
	var report struct{ Formula, Tokenizer string }
	for setting, want := range map[string]string{"anserini": "lucene lucene_english", "bm25s_stemmed": "lucene words", "rank_bm25": "okapi whitespace"} {
		l.json(out[fmt.Sprintf("step.bm25.nq[%q].report", "title/html_norm/"+setting)], &report)
		if got := report.Formula + " " + report.Tokenizer; got != want {
			t.Errorf("%s: %s, want %s", setting, got, want)
		}
	}
	paper := l.outputsOf(l.part(map[string]string{"scale": "toy"}, `step.bm25.nq["title/bm25"]`))
	if got, want := out[`step.bm25.nq["title/html_norm/anserini"].run`], paper[`step.bm25.nq["title/bm25"].run`]; got.Digest != want.Digest {
		t.Errorf("ranking %s, in the paper's pipeline %s", got.Digest, want.Digest)
	}
	spread, most := map[string]float64{}, 0.
	l.json(out["step.command.spread.stdout"], &spread)
	for _, form := range []string{"simple_norm", "html_norm"} {
		var all []float64
		for setting := range strings.FieldsSeq("anserini msmarco msmarco_docs lucene bm25s bm25s_stemmed rank_bm25") {
			var score struct{ Percent map[string]float64 }
			l.json(out[fmt.Sprintf("step.score.nq[%q].report", "title/"+form+"/"+setting)], &score)
			all = append(all, score.Percent["mrr_100"])
		}
		most = max(most, slices.Max(all)-slices.Min(all))
	}
	if got := spread["setting_mrr_100"]; most == 0 || math.Abs(got-most) > 1e-5 || spread["k1_b_mrr_100"] >= got || spread["key_mrr_100"] != 0 {
		t.Errorf("spread %v, of settings want %f", spread, most)
	}
	text := string(l.bytes(out["table.published.markdown"]))
	for _, name := range []string{"| GenRet ", "| a user "} { // the others are of key url
		if !strings.Contains(text, name) {
			t.Errorf("no row %q in\n%s", name, text)
		}
	}
	if text := squeezed(string(l.bytes(out[`table.bm25["recall_1"].markdown`]))); !strings.Contains(text, "| Title | SimpleNorm | 61 |") || !strings.Contains(text, "| Title | HtmlNorm | 61 |") {
		t.Errorf("the table is\n%s", text)
	}
}
