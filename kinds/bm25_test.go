package kinds_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/system/testkit"
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
	rankings := testkit.Value(trec.ReadRun(bytes.NewReader(l.bytes(res.Outputs["run"]))))(l.t)
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
	run, _, err := l.ranked("bm25", map[string]any{"corpus": corpus, "queries": queries})
	testkit.None(t, err)
	testkit.That(t, len(run) == 2 && run["2"] == "1 0" && run["4"] == "2 4", "run", run)
	run, report, err := l.ranked("bm25", map[string]any{"corpus": corpus, "queries": queries, "expand": []any{queries}, "depth": int64(1)})
	testkit.None(t, err)
	if run["4"] != "1" || report["appended_queries"] != 1. || report["expanded_documents"] != 1. {
		t.Errorf("expanded: run %v, report %v", run, report)
	}
	res := l.made("bm25", map[string]any{"corpus": corpus, "queries": queries})
	l.says(res.Outputs["report"], map[string]any{"documents": 5., "empty_documents": 1., "queries": 3., "queries_without_hit": 1., "hits": 4., "appended_queries": 0., "tokens": 13.})
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
		testkit.None(t, err)
		testkit.Is(t, run["2"], c.want, c.config)
	}
	mistakes(t, "bm25", map[string]any{"corpus": corpus, "queries": queries}, map[string]map[string]any{
		"depth":     {"depth": int64(0)},
		"delta":     {"delta": 1.},
		"stopwords": {"stopwords": "none"},
		"klingon":   {"tokenizer": "words", "stemmer": "klingon"},
		"byte":      {"formula": "atire", "lengths": "lucene"},
		"k1":        {"k1": -1.},
		"lacks":     {"absent": true},
	})
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
		l.refuses("bm25", changed(map[string]any{"corpus": corpus, "queries": queries}, config), want)
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
		testkit.Is(t, report.Formula+" "+report.Tokenizer, want, setting)
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
		testkit.Says(t, text, name)
	}
	text = squeezed(string(l.bytes(out[`table.bm25["recall_1"].markdown`])))
	testkit.Says(t, text, "| Title | SimpleNorm | 61 |", "| Title | HtmlNorm | 61 |")
}

// npyFile is a file of numpy.save.
func npyFile(dtype string, rows, cols int, numbers any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", dtype, rows, cols)
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	_ = binary.Write(&b, binary.LittleEndian, numbers)
	return b.Bytes()
}

// TestDense ranks what another program embedded: documents by their names, queries by their
// order, and dense compares them.
func TestDense(t *testing.T) {
	l := newLocal(t)
	_, queries := l.askedOfRivers()
	documents := l.collectionOf("a", "b", "c", "d", "e")
	of := func(config map[string]any) step.Input {
		t.Helper()
		res := l.made("import_embeddings", config)
		return step.In(res.Outputs["embeddings"])
	}
	file := func(b []byte) []any { return []any{l.blob("file", b)} }
	first := npyFile("<f8", 4, 2, []float64{9, 9, 0, 2, 1, 0, 1, 0})
	second := npyFile("<f2", 2, 2, []uint16{0x3c00, 0x3c00, 0x4400, 0}) // 1 1, 4 0
	embeddings := of(map[string]any{"documents": documents, "files": []any{l.blob("file", first), l.blob("file", second)},
		"names": file([]byte("none\nb\nc\r\na\ne\nd\n")), "extra": "leave_out"})
	asked := of(map[string]any{"queries": queries, "files": file(npyFile("<f4", 3, 2, []float32{0, 1, 1, 0, 0, 0}))})
	matrix, err := npy.Read(bytes.NewReader(l.bytes(*embeddings.Artifact)))
	if err != nil || fmt.Sprint(matrix.Data) != "[1 0 0 2 1 0 4 0 1 1]" {
		t.Fatalf("%v, %v", matrix, err)
	}
	run, report, err := l.ranked("dense", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries})
	testkit.None(t, err)
	if run["2"] != "1 4 0 2 3" || run["3"] != "3 0 2 4 1" || run["4"] != "0 1 2 3 4" || report["hits"] != 15. {
		t.Errorf("run %v, report %v", run, report)
	}
	run, _, err = l.ranked("dense", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries, "similarity": "cosine", "depth": int64(2)})
	testkit.None(t, err, run)
	testkit.Is(t, run["3"], "0 2", run)

	for _, c := range []struct {
		kind, want string
		config     map[string]any
	}{
		{"dense", "query_embeddings has 3 rows, and there are 1 test queries", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries, "split": "test"}},
		{"dense", "have 2 numbers, vectors of queries 1", map[string]any{"embeddings": embeddings, "queries": queries,
			"query_embeddings": of(map[string]any{"queries": queries, "files": file(npyFile("<f4", 3, 1, []float32{0, 1, 1}))})}},
		{"dense", "document 4 is not one of the 3", map[string]any{"embeddings": asked, "query_embeddings": asked, "queries": queries}},
		{"import_embeddings", `names, line 1: "none" is not a name`, map[string]any{"names": file([]byte("none\n")), "files": file(first)}},
		{"import_embeddings", `names, line 2: "a" is on line 1`, map[string]any{"names": file([]byte("a\na\n")), "files": file(first)}},
		{"import_embeddings", `"a", number 0 of 5, has no vector`, map[string]any{"names": file([]byte("b\nc\nd\ne\n")), "files": file(first)}},
		{"import_embeddings", "row 3: there are only 3 names", map[string]any{"names": file([]byte("b\nc\nd\n")), "files": file(first)}},
		{"import_embeddings", "5 names and 4 rows", map[string]any{"names": file([]byte("a\nb\nc\nd\ne\n")), "files": file(first)}},
		{"import_embeddings", `"e", number 4 of 5, has no vector: the files have 4 rows`, map[string]any{"files": file(first)}},
		{"import_embeddings", "row 5: only 5 documents or queries need a vector", map[string]any{"files": file(npyFile("<f4", 6, 1, make([]float32, 6)))}},
		{"import_embeddings", "files: row 1, column 1 is +Inf", map[string]any{"files": file(npyFile("<f8", 5, 2, []float64{1, 1, 1, 1e99, 1, 1, 1, 1, 1, 1}))}},
		{"import_embeddings", "dtype <i4", map[string]any{"files": file(npyFile("<i4", 5, 1, make([]int32, 5)))}},
		{"import_embeddings", "rows have 1 numbers, rows of the files before 2", map[string]any{"files": []any{l.blob("file", first), l.blob("file", npyFile("<f4", 1, 1, []float32{1}))}}},
		{"import_embeddings", "ends within", map[string]any{"files": file(first[:len(first)-1])}},
		{"import_embeddings", `no file is named "*.npy*"; there are ["vectors.txt"]`, map[string]any{"files": []any{l.tree("files", map[string][]byte{"vectors.txt": first})}}},
	} {
		if c.kind == "import_embeddings" {
			c.config["documents"] = documents
		}
		l.refuses(c.kind, c.config, c.want)
	}
	mistakes(t, "import_embeddings", map[string]any{"files": file(first)}, map[string]map[string]any{
		"documents":  nil,
		"pattern":    {"documents": documents, "file": "["},
		"names_file": {"documents": documents, "extra": "leave_out"},
	})
}
