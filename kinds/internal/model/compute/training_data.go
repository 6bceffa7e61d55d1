package compute

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/index"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/doc2query"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

type query struct {
	id     int64
	tokens []int32
	grade  int32 // how relevant its document is; 0: unknown
	target int   // place of its document's identifier; a question with several documents is several queries in a row
}

// readQueries reads the questions of a split, tokenized. The documents of all splits' questions must have identifiers.
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

// trainingData returns an indexing example for each document and a retrieval example for each training query.
// byQueries repeats documents as often as they have training queries.
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
	j.metrics, _ = c.Metrics(ids.Kind.CanBeInvalid()) // checked
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

// evaluate is a train.Evaluate: it returns the means of the post-filtered metrics, as fractions.
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
		rankings[i] = ranking(strconv.Itoa(i), r, j.ids)
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

func runTrainQueries(ctx context.Context, x *step.IO, c model.TrainQueriesConfig) error {
	on, err := deviceOf(ctx, c.Fitting)
	if err != nil {
		return err
	}
	settings := doc2query.Settings{MaxInput: c.MaxInput, MaxQuery: c.MaxQuery, Prefix: c.Prefix, Lowercase: c.Lowercase}
	learn, dev, err := examples(ctx, x, c, settings)
	if err != nil {
		return err
	}
	as := training{model.TrainConfig{Model: c.Model, Fitting: c.Fitting, Optimizer: model.Adafactor, Accumulate: 1}}
	m, err := as.model(x, on)
	if err != nil {
		return err
	}
	defer m.Close()
	learner, err := as.learner(m)
	if err != nil {
		return err
	}
	defer learner.Close()
	out, err := fitted(ctx, x, c.Fitting, learner, func(folder string) error {
		text, err := settings.Write()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, doc2query.SettingsFile), text, 0o644)
	}, train.Task{
		Config: train.Config{Ratio: train.Natural, Schedule: train.Schedule{Rate: c.LearningRate, Warmup: int64(c.Warmup)}, Select: model.Likelihood},
		Data:   &train.Data{Retrieval: learn}, Vocabulary: int(m.Vocabulary().Size),
		Evaluate: func(ctx context.Context, _ int64) (map[string]float64, error) {
			loss, err := meanLoss(ctx, m, dev, c.Batch)
			return map[string]float64{model.Likelihood: math.Exp(-loss)}, err
		},
	})
	if err != nil {
		return err
	}
	loss := -math.Log(out.Best.Metrics[model.Likelihood])
	r := model.TrainQueriesReport{Parameters: seq2seq.ParameterCount(m.Config), Steps: int64(c.Steps), BestStep: out.Best.Step, DevLoss: loss, Perplexity: math.Exp(loss),
		Examples: len(learn), DevExamples: len(dev), Seconds: out.Curve.Seconds(), Device: on.String(), Threads: tensor.NumThreads(), ResumedAt: out.From}
	return inout.WriteJSON(x, "report", r)
}

// pair is a query with the number of its document.
type pair struct {
	doc    int32
	tokens []int32
}

// examples returns the examples to learn from, and the examples that choose the checkpoint.
func examples(ctx context.Context, x *step.IO, c model.TrainQueriesConfig, settings doc2query.Settings) (learn, dev []train.Example, err error) {
	tok, read, err := openTokenizer(x, c.Tokenizer, settings.Reader)
	if err != nil {
		return nil, nil, err
	}
	defer tok.Close()
	var pairs [2][]pair // of train and dev
	texts := map[int32][]int32{}
	err = inout.EachQuery(x, c.Queries, "queries", func(q *dedup.Query) error {
		of := &pairs[0]
		switch {
		case q.Split == nq.Dev && (c.DevQueries == 0 || len(pairs[1]) < c.DevQueries):
			of = &pairs[1]
		case q.Split != nq.Train:
			return nil
		}
		tokens, _ := read.Query(q.Question)
		*of = append(*of, pair{q.Doc, tokens})
		texts[q.Doc] = nil
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(pairs[0]) == 0 {
		return nil, nil, step.Permanent(errors.New("queries: there is no training query to learn to write"))
	}
	if len(pairs[1]) == 0 {
		return nil, nil, step.Permanent(errors.New("queries: there is no development query to choose a checkpoint by"))
	}
	err = inout.EachDocument(ctx, x, c.Corpus, func(d *corpus.Document) error {
		if _, asked := texts[d.Doc]; asked {
			texts[d.Doc] = read.Document(d.Text)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var out [2][]train.Example
	for i, list := range pairs {
		for _, p := range list {
			if texts[p.doc] == nil {
				return nil, nil, step.Permanent(fmt.Errorf("queries: document %d is not in corpus: take both from the same collection", p.doc))
			}
			out[i] = append(out[i], train.Example{Input: texts[p.doc], Target: p.tokens})
		}
	}
	inout.Count(x, map[string]int{"examples": len(out[0]), "development_queries": len(out[1])})
	return out[0], out[1], nil
}

// meanLoss computes the mean loss of the examples' target tokens, in batches.
func meanLoss(ctx context.Context, m *seq2seq.Model, examples []train.Example, batch int) (float64, error) {
	sum, tokens := 0.0, 0
	for from := 0; from < len(examples); from += batch {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		var b seq2seq.Batch
		n := 0
		for _, e := range examples[from:min(from+batch, len(examples))] {
			b.Inputs, b.Labels = append(b.Inputs, e.Input), append(b.Labels, e.Target)
			n += len(e.Target)
		}
		loss, err := m.Loss(b)
		if err != nil {
			return 0, err
		}
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return 0, &train.NotFiniteError{}
		}
		sum, tokens = sum+loss*float64(n), tokens+n
	}
	return sum / float64(tokens), nil
}
