package main

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/model/train/fit"
)

// warmTraining is how many slices do not count: graphs of most shapes are recorded in them.
const warmTraining = 3

type nowhere struct{}

func (nowhere) Save(context.Context, int64, string) error { return nil }
func (nowhere) Latest(context.Context, string, func(int64) error) (bool, error) {
	return false, nil
}

// graphsOf says how much of a training's updates was replayed; nil without a card.
func graphsOf(l *fit.Seq2Seq) *graphs {
	if !l.Model.Device.IsCUDA() {
		return nil
	}
	r := l.Recorded()
	g := &graphs{Recorded: int64(r.Graphs), Replayed: r.Replays, Single: r.Single}
	if r.Failed != nil {
		g.Failed = r.Failed.Error()
	}
	return g
}

func (p *placed) examples() (inputs, labels [][]int32) {
	draw := drawn.Numbers(1)
	return draw.Examples(p.batch * p.batches)
}

func (p *placed) learner() (*fit.Seq2Seq, error) {
	m, err := p.open()
	if err != nil {
		return nil, err
	}
	o, err := optimizer.NewAdafactor(m.Params, optimizer.AdafactorDefaults())
	if err != nil {
		return nil, err
	}
	l, err := fit.NewSeq2Seq(m, o, 1)
	if err != nil {
		return nil, err
	}
	p.later(l.Close)
	l.OneByOne = p.single
	return l, nil
}

// cardTrain is training as the kind train does it. Batches are of lengths that vary, as a training's are.
func cardTrain(p *placed, w *workload) error {
	learner, err := p.learner()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "bench-card")
	if err != nil {
		return err
	}
	p.later(func() { os.RemoveAll(folder) })
	w.graphs = func() *graphs { return graphsOf(learner) }
	w.run = p.training(learner, folder)
	w.warm = func() error {
		for range warmTraining {
			if _, err := w.run(); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// training runs the updates of a slice at each call: train.Train pauses where it would evaluate.
func (p *placed) training(learner *fit.Seq2Seq, folder string) func() (float64, error) {
	data := &train.Data{}
	inputs, labels := p.examples()
	for i := range inputs {
		data.Retrieval = append(data.Retrieval, train.Example{Input: inputs[i], Target: labels[i]})
	}
	next, stop := iter.Pull(func(yield func(error) bool) {
		goesOn := true
		_, err := train.Train(context.Background(), train.Task{
			Config: train.Config{Steps: 1 << 30, Batch: p.batch, Seed: 1, Schedule: train.Schedule{Rate: 1e-3},
				EvaluateEvery: int64(p.updates), Select: "none", CheckpointEvery: 1 << 30},
			Data: data, Vocabulary: int(learner.Model.Vocabulary().Size), Learner: learner, Checkpoints: nowhere{}, Folder: folder,
			Evaluate: func(context.Context, int64) (map[string]float64, error) {
				if goesOn = yield(nil); !goesOn {
					return nil, context.Canceled
				}
				return map[string]float64{"none": 0}, nil
			},
		})
		if goesOn {
			yield(fmt.Errorf("training ended: %w", err))
		}
	})
	p.later(stop)
	return func() (float64, error) {
		err, _ := next()
		return float64(p.updates), err
	}
}
