package compute

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/ranking/doc2query"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

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

// pair is a query and the number of its document, whose text it is learned of.
type pair struct {
	doc    int32
	tokens []int32
}

// examples are those to learn, and those to choose the checkpoint by.
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

// meanLoss is the mean loss of the examples' target tokens, of which a batch is computed at once.
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
