package main

import (
	"context"
	"fmt"
	"os"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/model/train/fit"
)

// warmTraining is how many slices do not count: graphs of most shapes are recorded in them.
const warmTraining = 3

// pausing evaluates nothing: training waits there for the next slice.
type pausing struct {
	reached chan struct{}
	next    chan struct{}
}

func (p pausing) evaluate(ctx context.Context, _ int64) (map[string]float64, error) {
	select {
	case p.reached <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-p.next:
		return map[string]float64{"none": 0}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// nowhere keeps no checkpoint.
type nowhere struct{}

func (nowhere) Save(context.Context, int64, string) error { return nil }
func (nowhere) Latest(context.Context, string, func(int64) error) (bool, error) {
	return false, nil
}

// graphsOf says what of a training's updates was replayed; nil: it computes on no card.
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

// examples are those that a training takes its updates from.
func (p *placed) examples() (inputs, labels [][]int32) {
	draw := drawn.Numbers(1)
	return draw.Examples(p.batch * p.batches)
}

// learner is a model with its optimizer.
func (p *placed) learner() (*fit.Seq2Seq, error) {
	m, err := p.open()
	if err != nil {
		return nil, err
	}
	o, err := optimizer.NewAdafactor(m.Params(), optimizer.AdafactorDefaults())
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

// training makes the updates of a slice at each call. It begins at the first one, and ends by close.
func (p *placed) training(learner *fit.Seq2Seq, folder string) func() (float64, error) {
	data := &train.Data{}
	inputs, labels := p.examples()
	for i := range inputs {
		data.Retrieval = append(data.Retrieval, train.Example{Input: inputs[i], Target: labels[i]})
	}
	ctx, cancel := context.WithCancel(context.Background())
	pause := pausing{make(chan struct{}), make(chan struct{})}
	ended := make(chan struct{})
	var failed error // of training, once it ended
	begin := func() {
		defer close(ended)
		_, failed = train.Train(ctx, train.Task{
			Config: train.Config{Steps: 1 << 30, Batch: p.batch, Seed: 1, Schedule: train.Schedule{Rate: 1e-3},
				EvaluateEvery: int64(p.updates), Select: "none", CheckpointEvery: 1 << 30},
			Data: data, Vocabulary: int(learner.Model.Vocabulary().Size), Learner: learner, Checkpoints: nowhere{}, Folder: folder, Evaluate: pause.evaluate,
		})
	}
	started := false
	p.later(func() {
		cancel()
		if started {
			<-ended
		}
	})
	return func() (float64, error) {
		if !started {
			started = true
			go begin()
		} else {
			pause.next <- struct{}{}
		}
		select {
		case <-pause.reached:
			return float64(p.updates), nil
		case <-ended:
			return 0, fmt.Errorf("training ended: %w", failed)
		}
	}
}
