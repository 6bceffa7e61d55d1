package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/bm25"
	"github.com/redsi/redsi/internal/ranking/dense"
	"github.com/redsi/redsi/internal/ranking/topk"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type bm25Config struct {
	Corpus    step.Input  `hcl:"corpus" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Queries   step.Input  `hcl:"queries" accepts:"nq/queries" help:"queries of the collection"`
	Split     string      `hcl:"split,optional" enum:"train,dev,test" help:"which queries are asked"`
	Expand    step.Inputs `hcl:"expand,optional" accepts:"nq/queries" help:"queries whose train split is appended to their documents' texts, such as the collection's own or generated ones; other splits are not"`
	Title     bool        `hcl:"title,optional" help:"a document's title comes before its text, which in many corpora begins with it already"`
	Depth     int         `hcl:"depth,optional" min:"1" help:"documents of a ranking, at most"`
	Formula   string      `hcl:"formula,optional" enum:"lucene,robertson,atire,bm25+,bm25l,okapi" help:"what a document scores"`
	K1        float64     `hcl:"k1,optional" min:"0" help:"how soon a repeated word counts no more"`
	B         float64     `hcl:"b,optional" min:"0" max:"1" help:"how much long documents are penalized"`
	Delta     *float64    `hcl:"delta,optional" min:"0" help:"for bm25+, default 1, and for bm25l, default 0.5"`
	Lengths   *string     `hcl:"lengths,optional" enum:"lucene,exact" help:"documents' lengths in a byte, as Lucene keeps them, with its float32 arithmetic, or as they are; default lucene for that formula, exact for the others, which know nothing else"`
	Absent    bool        `hcl:"absent,optional" help:"a query's word that a document lacks has the weight of tf = 0 under bm25+ and bm25l, as bm25s and rank_bm25 compute: delta then is not a lower bound"`
	Tokenizer string      `hcl:"tokenizer,optional" enum:"lucene_english,words,whitespace" help:"what the terms of a text are"`
	Stopwords *string     `hcl:"stopwords,optional" enum:"english,none" help:"for tokenizer words: words that are not terms, Lucene's 33, bm25s' default, or none; default english"`
	Stemmer   *string     `hcl:"stemmer,optional" help:"for tokenizer words: Snowball stemmer: of a language, such as english, by the rules before Snowball 3, or by its own, such as english3 (PyStemmer 3); default none"`
	identicalOf
}

var BM25 = step.Define(step.Kind[bm25Config]{
	Name:    "bm25",
	Version: 1,
	Doc: `Rank documents for queries by BM25, without training.
With tf a word's frequency in a document, df the documents that have it, N all
documents, L = 1 - b + b length / mean length and K = k1 L, a document scores the sum
over the query's words, repeated ones too, of idf x weight. formula is one of
lucene: idf ln(1 + (N - df + 0.5) / (df + 0.5)), weight tf / (tf + K), as Lucene
since version 8;
robertson: idf ln((N - df + 0.5) / (df + 0.5)), at least 0, weight as lucene
(Robertson et al., 1994);
atire: idf ln(N / df), weight (k1 + 1) tf / (tf + K) (Trotman et al., 2012);
bm25+: idf ln((N + 1) / df), weight delta + (k1 + 1) tf / (tf + K) (Lv and Zhai,
CIKM 2011);
bm25l: idf ln((N + 1) / (df + 0.5)), weight (k1 + 1)(c + delta) / (k1 + c + delta)
with c = tf / L (Lv and Zhai, SIGIR 2011);
okapi: idf of robertson, a quarter of the mean idf if below 0, weight as atire, which is
rank_bm25's BM25Okapi.
The defaults are Anserini's and Pyserini's, scores equal to the bit: k1 0.9, b 0.4.
Tokenizers: lucene_english is Lucene's EnglishAnalyzer (UAX #29 words, no possessive,
lower case, 33 stop words, Porter's stemmer); words is bm25s' (letters, digits and
underscores, two or more, lower case); whitespace splits at blanks and keeps case, as
rank_bm25's examples. Equal scores are ordered by document number; a document without
a word of the query, or with score 0, is not listed. Ties are broken in the written
scores, so that trec_eval keeps this order.
Stemmers are Snowball's before version 3, as in PyStemmer 2.2 (but for Finnish, French and
Russian, where they are those before version 2), and by PyStemmer 3.1's rules danish3,
dutch3, english3, finnish3, french3, german3, italian3, norwegian3, russian3, spanish3,
swedish3 and dutch_porter, its name for what dutch is here. Its porter and portuguese are
the same.
Cost: one pass over the texts, a minute a gigabyte on one core; a query takes the pairs
of its words with documents, and fewer where depth is small. Memory is 7 bytes a pair of
a document and a word that it has, 20 a document, the words, the queries that are
appended, and the queries; a million passages of 60 words take 0.62 GB. Pairs that are
not sorted yet are on disk, 3 bytes each.`,
	Example: `step "bm25" "title" {
  corpus  = step.serialize.nq["title/nci_norm"].corpus
  queries = step.dedup.nq["title"].queries
  expand  = [step.dedup.nq["title"].queries]
}`,
	Outputs: []step.Output{
		{Name: "run", Type: "trec/run", Help: "rankings, documents and queries by number",
			Alike: step.Runs{Depth: 100, Overlap: 0.999}, Why: "the last bit of a logarithm depends on the processor, and so may the order of nearly equal scores"},
		{Name: "qrels", Type: "trec/qrels", Help: "relevant documents of the queries that were asked"},
		{Name: "report", Type: "bm25/report", Help: "what was indexed and asked, as JSON", Fields: step.FieldsOf[bm25Report]()},
	},
	Defaults: bm25Config{Split: string(nq.Dev), Depth: 1000, Formula: string(bm25.Lucene), K1: 0.9, B: 0.4, Tokenizer: luceneEnglish},
	Check: inout.Checks(func(c bm25Config, ps *step.Problems) {
		withDelta := c.Formula == string(bm25.Plus) || c.Formula == string(bm25.Long)
		inout.Check(ps, "delta", c.Delta == nil || withDelta, "applies only to formulas bm25+ and bm25l; remove it")
		ownWords := c.Stopwords == nil && c.Stemmer == nil
		inout.Check(ps, "tokenizer", c.Tokenizer == wordsTokenizer || ownWords, "stopwords and stemmer apply only to tokenizer words; %s has its own", c.Tokenizer)
		_, err := c.analyzer()
		inout.CheckError(ps, "stemmer", err)
		inout.CheckError(ps, "formula", c.options().Check())
		c.check(ps)
	}),
	Run: runBM25,
})

const luceneEnglish, wordsTokenizer = "lucene_english", "words"

type bm25Report struct {
	bm25.Statistics
	Expanded int64 `json:"expanded_documents"` // with appended queries
	Appended int64 `json:"appended_queries"`
	Queries  int   `json:"queries"`
	Unfound  int   `json:"queries_without_hit"`
	written
	Depth     int    `json:"depth"`
	Formula   string `json:"formula"`
	Tokenizer string `json:"tokenizer"`
}

func (c *bm25Config) analyzer() (bm25.Analyzer, error) {
	switch c.Tokenizer {
	case luceneEnglish:
		return bm25.LuceneEnglish{}, nil
	case wordsTokenizer:
		stemmer := inout.Or(c.Stemmer, "none")
		if stemmer == "none" {
			stemmer = ""
		}
		return bm25.Words(inout.Or(c.Stopwords, "english") == "english", stemmer)
	}
	return bm25.Whitespace{}, nil
}

func (c *bm25Config) options() bm25.Options {
	delta, lengths := 0.5, "exact"
	switch bm25.Formula(c.Formula) {
	case bm25.Plus:
		delta = 1
	case bm25.Lucene:
		lengths = "lucene"
	}
	return bm25.Options{Formula: bm25.Formula(c.Formula), K1: c.K1, B: c.B, Delta: inout.Or(c.Delta, delta),
		LuceneLengths: inout.Or(c.Lengths, lengths) == "lucene", Absent: c.Absent}
}

func runBM25(ctx context.Context, x *step.IO, c bm25Config) error {
	report := bm25Report{Depth: c.Depth, Formula: c.Formula, Tokenizer: c.Tokenizer}
	appended, err := expansions(x, c.Expand)
	if err != nil {
		return err
	}
	analyzer, _ := c.analyzer() // checked
	ix, err := indexCorpus(ctx, x, c, analyzer, appended, &report)
	if err != nil {
		return err
	}
	report.Statistics = ix.Statistics
	questions, err := inout.ReadQuestions(x, c.Queries, nq.Split(c.Split), inCollection(ix.Statistics.Documents))
	if err != nil {
		return err
	}
	report.Queries = len(questions)
	texts := lists.Map(questions, func(q inout.Question) string { return q.Text })
	own, err := c.own(x, c.Queries, c.Split)
	if err != nil {
		return err
	}
	report.written, err = writeHits(x, questions, c.Depth, own, func(from, to int) ([][]topk.Hit, error) {
		return ix.SearchAll(ctx, texts[from:to], c.Depth+min(1, len(own)))
	})
	if err != nil {
		return err
	}
	report.Unfound = report.unfound
	return inout.WriteReport(x, report, map[string]int{"documents": ix.Statistics.Documents, "queries": report.Queries,
		"queries_without_hit": report.Unfound})
}

// inCollection returns a check that the collection has a query's document.
func inCollection(documents int) func(*dedup.Query) error {
	return func(q *dedup.Query) error {
		if q.Doc < 0 || int(q.Doc) >= documents {
			return fmt.Errorf("document %d is not one of the %d that are ranked: take all from the same collection", q.Doc, documents)
		}
		return nil
	}
}

func expansions(x *step.IO, ins step.Inputs) (map[int32][]string, error) {
	out := map[int32][]string{}
	for _, in := range ins {
		err := inout.EachQuery(x, in, "expand", func(q *dedup.Query) error {
			if q.Split == nq.Train {
				out[q.Doc] = append(out[q.Doc], q.Question)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// indexCorpus reads the texts of all documents, in the order of their numbers.
func indexCorpus(ctx context.Context, x *step.IO, c bm25Config, analyzer bm25.Analyzer, appended map[int32][]string, report *bm25Report) (*bm25.Index, error) {
	b := bm25.NewBuilder(x.Scratch, analyzer)
	n := int32(0)
	err := inout.EachDocument(ctx, x, c.Corpus, func(d *corpus.Document) error {
		if d.Doc != n {
			return step.Permanent(fmt.Errorf("corpus: document %d where %d was expected: all documents are ranked", d.Doc, n))
		}
		texts := []string{d.Text}
		if c.Title {
			texts = []string{d.Title, d.Text}
		}
		if more := appended[n]; len(more) > 0 {
			report.Expanded++
			report.Appended += int64(len(more))
			texts = append(texts, more...)
			delete(appended, n)
		}
		if err := b.Add(texts...); err != nil {
			return step.Permanent(err)
		}
		if n++; n%1024 == 0 {
			x.Report(step.Progress{Done: int64(n), Unit: "documents"})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(appended) > 0 {
		return nil, step.Permanent(fmt.Errorf("expand: document %d of a train query is not in the corpus: give queries of the same collection", slices.Min(slices.Collect(maps.Keys(appended)))))
	}
	ix, err := b.Finish(c.options())
	if b.Err() == nil {
		err = step.Permanent(err)
	}
	return ix, err
}

type denseConfig struct {
	Embeddings      step.Input `hcl:"embeddings" accepts:"docid/embeddings" help:"a vector of each document, in document order"`
	QueryEmbeddings step.Input `hcl:"query_embeddings" accepts:"docid/embeddings" help:"a vector of each query of the split, in their order, as embed makes them of the same queries and split"`
	Queries         step.Input `hcl:"queries" accepts:"nq/queries" help:"queries of the collection"`
	Split           string     `hcl:"split,optional" enum:"train,dev,test" help:"which queries are asked"`
	Similarity      string     `hcl:"similarity,optional" enum:"product,cosine" help:"what a document scores"`
	Depth           int        `hcl:"depth,optional" min:"1" help:"documents of a ranking, at most"`
	identicalOf
}

var Dense = step.Define(step.Kind[denseConfig]{
	Name:    "dense",
	Version: 1,
	Doc: `Rank documents for queries by the inner products, or cosines, of their vectors.
Every document is compared with every query: no index, nothing approximate. Products
are sums of float32, with the same bits on every processor; equal scores are ordered
by document number. Every document has a score, so rankings are as long as depth, or
the collection. Ties are broken in the written scores, so that trec_eval keeps this
order. Cost: documents x queries x dimensions, 14 thousand million a second on one core
with AVX2; with AVX512-VNNI and 512 queries or more, sums of bytes tell first which
documents cannot be among a query's best, in two thirds of the time at depth 100.
Documents stream; memory is 5 bytes x queries x dimensions and 16 bytes x queries x
depth.`,
	Example: `step "dense" "title" {
  embeddings       = step.embed.title.embeddings
  query_embeddings = step.embed.title_dev.embeddings
  queries          = step.dedup.nq["title"].queries
}`,
	Outputs: []step.Output{
		{Name: "run", Type: "trec/run", Help: "rankings, documents and queries by number"},
		{Name: "qrels", Type: "trec/qrels", Help: "relevant documents of the queries that were asked"},
		{Name: "report", Type: "dense/report", Help: "what was compared, as JSON", Fields: step.FieldsOf[denseReport]()},
	},
	Defaults: denseConfig{Split: string(nq.Dev), Similarity: "product", Depth: 1000},
	Check:    inout.Checks(func(c denseConfig, ps *step.Problems) { c.check(ps) }),
	Run:      runDense,
})

type denseReport struct {
	Documents  int `json:"documents"`
	Queries    int `json:"queries"`
	Dimensions int `json:"dimensions"`
	written
	Depth      int    `json:"depth"`
	Similarity string `json:"similarity"`
}

func runDense(ctx context.Context, x *step.IO, c denseConfig) error {
	asked, err := inout.ReadVectors(x, c.QueryEmbeddings)
	if err != nil {
		return err
	}
	r, err := x.Open(c.Embeddings)
	if err != nil {
		return err
	}
	defer r.Close()
	documents, err := npy.Open(r)
	if err != nil {
		return inout.DataError(err)
	}
	questions, err := inout.ReadQuestions(x, c.Queries, nq.Split(c.Split), inCollection(documents.Rows))
	if err != nil {
		return err
	}
	switch {
	case asked.Rows != len(questions):
		return step.Permanent(fmt.Errorf("query_embeddings has %d rows, and there are %d %s queries: embed the same queries and split", asked.Rows, len(questions), c.Split))
	case asked.Cols != documents.Cols:
		return step.Permanent(fmt.Errorf("vectors of documents have %d numbers, vectors of queries %d: embed both with one model", documents.Cols, asked.Cols))
	}
	own, err := c.own(x, c.Queries, c.Split)
	if err != nil {
		return err
	}
	found, err := dense.Search(ctx, documents.Read, documents.Rows, asked, dense.Options{Depth: c.Depth + min(1, len(own)), Cosine: c.Similarity == "cosine",
		Progress: func(n int) {
			x.Report(step.Progress{Done: int64(n), Total: int64(documents.Rows), Unit: "documents"})
		}})
	if err != nil {
		return inout.DataError(err)
	}
	if err := documents.End(); err != nil {
		return inout.DataError(err)
	}
	report := denseReport{Documents: documents.Rows, Queries: len(questions), Dimensions: asked.Cols, Depth: c.Depth, Similarity: c.Similarity}
	report.written, err = writeHits(x, questions, c.Depth, own, func(from, to int) ([][]topk.Hit, error) { return found[from:to], nil })
	if err != nil {
		return err
	}
	return inout.WriteReport(x, report, map[string]int{"documents": report.Documents, "queries": report.Queries})
}

// together bounds the hits in memory, whatever the queries are.
const together = 1 << 20

type written struct {
	Hits      int64 `json:"hits"`                          // lines of the run
	Identical int   `json:"identical_documents,omitempty"` // left out, as they have the query's name
	unfound   int   // queries without a hit
}

// writeHits writes run and qrels of all questions, without their own documents. find returns the hits of the questions
// from..to, depth or more of each if there are as many, and one more if some questions have documents of their own.
func writeHits(x *step.IO, questions []inout.Question, depth int, own map[string]string, find func(from, to int) ([][]topk.Hit, error)) (n written, err error) {
	if _, err := inout.WriteQrels(x, questions); err != nil {
		return n, err
	}
	return n, inout.WriteRuns(x, func(put func([]trec.Ranking) error) error {
		some := max(1, together/depth)
		for from := 0; from < len(questions); from += some {
			to := min(len(questions), from+some)
			found, err := find(from, to)
			if err == nil {
				err = put(n.rankings(questions[from:to], found, depth, own))
			}
			if err != nil {
				return err
			}
			x.Report(step.Progress{Done: int64(to), Total: int64(len(questions)), Unit: "queries"})
		}
		return nil
	})
}

func (n *written) rankings(questions []inout.Question, found [][]topk.Hit, depth int, own map[string]string) []trec.Ranking {
	out := make([]trec.Ranking, 0, len(found))
	for i, hits := range found {
		r := trec.Ranking{Query: questions[i].Name, Hypotheses: make([]trec.Hypothesis, len(hits))}
		for k, h := range hits {
			r.Hypotheses[k] = trec.Hypothesis{Document: strconv.Itoa(int(h.Doc)), Score: h.Score}
		}
		n.Identical += r.Without(own[r.Query])
		r.Hypotheses = r.Hypotheses[:min(depth, len(r.Hypotheses))]
		n.Hits += int64(len(r.Hypotheses))
		if len(r.Hypotheses) == 0 {
			n.unfound++
		}
		out = append(out, r)
	}
	return out
}
