package compute

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/index"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// query is a labeled question.
type query struct {
	id     int64
	tokens []int32
	grade  int32 // how relevant its document is; 0: not said
	target int   // place of its document among the identifiers; one with several is a query for each, one after another
}

// readQueries reads the questions of one split, tokenized, and pairs those of all
// splits with identifiers.
func readQueries(x *step.IO, in step.Input, split nq.Split, ids *docid.Set, read retrieve.Reader) ([]query, error) {
	var qs []query
	pairing := ids.PairWith("queries")
	err := inout.EachQuery(x, in, "queries", func(q *dedup.Query) error {
		target, err := pairing.Find(int(q.Doc))
		if err != nil {
			return fmt.Errorf("%s example %d: %w", q.Split, q.ExampleID, err)
		}
		if q.Split == split {
			tokens, _ := read.Query(q.Question)
			qs = append(qs, query{q.ExampleID, tokens, q.Grade, target})
		}
		return nil
	})
	return qs, err
}

// trainingData makes the examples of a collection: one indexing example per
// document, one retrieval example per training query. byQueries repeats documents as
// often as they have training queries.
func trainingData(ctx context.Context, x *step.IO, corpusIn, queriesIn step.Input, ids *docid.Set, read retrieve.Reader, byQueries bool) (*train.Data, error) {
	d := &train.Data{}
	var places []int // of documents among the identifiers
	pairing := ids.PairWith("corpus")
	err := inout.EachDocument(ctx, x, corpusIn, func(doc *corpus.Document) error {
		place, err := pairing.Find(int(doc.Doc))
		if err != nil {
			return step.Permanent(err)
		}
		d.Indexing = append(d.Indexing, train.Example{Input: read.Document(doc.Text), Target: ids.Identifiers[place].Tokens})
		places = append(places, place)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := pairing.Complete(); err != nil {
		return nil, step.Permanent(err)
	}
	qs, err := readQueries(x, queriesIn, nq.Train, ids, read)
	if err != nil {
		return nil, err
	}
	asked := make([]int, len(ids.Identifiers))
	for _, q := range qs {
		d.Retrieval = append(d.Retrieval, train.Example{Input: q.tokens, Target: ids.Identifiers[q.target].Tokens})
		asked[q.target]++
	}
	if byQueries {
		for _, place := range places {
			d.Repeats = append(d.Repeats, max(1, asked[place]))
		}
	}
	inout.Count(x, map[string]int{"indexing_examples": len(d.Indexing), "retrieval_examples": len(d.Retrieval)})
	return d, nil
}

// judge evaluates a model in training on the development queries.
type judge struct {
	x       *step.IO
	model   *seq2seq.Model
	catalog *index.Catalog
	ids     *docid.Set
	queries [][]int32
	qrels   trec.Judgments
	metrics []metrics.Metric
	options retrieve.Options
	steps   int64 // of the whole training, for progress
}

func newJudge(x *step.IO, c training, m *seq2seq.Model, catalog *index.Catalog, ids *docid.Set, dev []query) (*judge, error) {
	if len(dev) == 0 {
		return nil, step.Permanent(errors.New("queries: there is no development query to choose a checkpoint by"))
	}
	j := &judge{x: x, model: m, catalog: catalog, ids: ids, options: retrieve.Default(), steps: int64(c.Steps)}
	j.options.Width, j.options.Search = c.Beams, c.search()
	var err error
	if j.metrics, err = c.Metrics(ids.Kind.CanBeInvalid()); err != nil {
		return nil, step.Permanent(err)
	}
	for i, q := range dev {
		if i == 0 || q.id != dev[i-1].id {
			j.queries = append(j.queries, q.tokens)
		}
		if err := j.qrels.Judge(strconv.Itoa(len(j.queries)-1), ids.Identifiers[q.target].Document, int(max(1, q.grade))); err != nil {
			return nil, step.Permanent(err)
		}
	}
	return j, nil
}

// evaluate is a train.Evaluate: the means of the metrics, post-filtered, as fractions.
func (j *judge) evaluate(ctx context.Context, at int64) (map[string]float64, error) {
	of, err := index.New(j.model, j.catalog)
	if err != nil {
		return nil, err
	}
	defer of.Close()
	of.Warn(func(text string) { j.x.Log.Warn(text) })
	found, err := of.Search(ctx, j.queries, j.options, func(done int) {
		j.x.Report(step.Progress{Done: at, Total: j.steps, Unit: "steps",
			Note: "evaluation: " + strconv.Itoa(done) + " of " + strconv.Itoa(len(j.queries)) + " queries"})
	})
	if errors.Is(err, decode.ErrNaN) {
		return nil, &train.NotFiniteError{}
	}
	if err != nil {
		return nil, err
	}
	rankings, without := make([]trec.Ranking, len(found)), 0
	for i, r := range found {
		if len(r.Ranking) == 0 {
			without++
		}
		rankings[i].Query = strconv.Itoa(i)
		for _, h := range r.Ranking {
			hypothesis := trec.Hypothesis{Score: h.Score}
			if h.Document >= 0 {
				hypothesis.Document = j.ids.Identifiers[h.Document].Document
			}
			rankings[i].Hypotheses = append(rankings[i].Hypotheses, hypothesis)
		}
	}
	switch {
	case without == len(found):
		return nil, &train.NotFiniteError{}
	case without > 0:
		j.x.Log.Warn("scores overflowed fp16: these queries count as without hypotheses", "step", at, "queries", without, "of", len(found))
	}
	report, err := metrics.Scoring{Metrics: j.metrics, Mode: metrics.PostFiltered}.Score(trec.Held(rankings), &j.qrels)
	if err != nil {
		return nil, err
	}
	values := make(map[string]float64, len(j.metrics))
	for i, m := range j.metrics {
		values[m.String()] = report.Mean[i]
	}
	return values, nil
}
