package ranking

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/dense"
	"github.com/redsi/redsi/internal/ranking/topk"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

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
		return step.Permanent(fmt.Errorf("vectors of documents have %d numbers, those of queries %d: embed both with one model", documents.Cols, asked.Cols))
	}
	own, err := c.own(x, c.Queries, c.Split)
	if err != nil {
		return err
	}
	found, err := dense.Search(ctx, documents, documents.Rows, asked, dense.Options{Depth: c.Depth + min(1, len(own)), Cosine: c.Similarity == "cosine",
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
	if _, err := inout.WriteQrels(x, questions); err != nil {
		return err
	}
	return inout.WriteReport(x, report, map[string]int{"documents": report.Documents, "queries": report.Queries})
}

// together is how many hits are in memory at a time, whatever the queries are.
const together = 1 << 20

// written counts what a run has.
type written struct {
	Hits      int64 `json:"hits"`                          // lines of the run
	Identical int   `json:"identical_documents,omitempty"` // left out, as they have the query's name
	unfound   int   // queries without a hit
}

// writeHits writes the run of all questions, without their own documents. find returns the hits
// of the questions from..to, at least depth of them if there are as many, and one more of a
// question with a document of its own.
func writeHits(x *step.IO, questions []inout.Question, depth int, own map[string]string, find func(from, to int) ([][]topk.Hit, error)) (n written, err error) {
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
