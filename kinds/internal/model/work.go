package model

import (
	"cmp"
	"math"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/step"
)

// A rate is of updates of so many examples, and of searches with so many beams.
const (
	ratedBatch = 128
	ratedBeams = 40
)

// searches are queries of a split, times.
func searches(unit step.Unit, times float64, beams int, queries step.Input, split string) step.Doing {
	return step.Doing{Unit: unit, Amount: step.Amount{Times: times * float64(beams) / ratedBeams, Of: step.Inputs{queries}, Count: "records." + split}}
}

// work is the updates and the evaluations on the way, all of them: patience may end both
// earlier.
func (c TrainConfig) work() step.Work {
	evaluations := searches(step.Searches, math.Ceil(float64(c.Steps)/float64(max(1, c.EvaluateEvery))), c.Beams, c.Queries, "dev")
	evaluations.Evaluates = true
	w := step.Work{Does: []step.Doing{{Unit: step.Updates, Amount: step.Exactly(float64(c.Steps) * float64(c.Batch) / ratedBatch)}, evaluations}, Like: c.Model,
		Counts: map[string]step.Amount{step.UpdatesCount: step.Exactly(float64(c.Steps))}}
	return by(w, c.Model, c.IDs)
}

// work is the search; parts share it.
func (c evaluateConfig) work() step.Work {
	unit := step.Searches
	if c.Decoding == Constrained {
		unit = step.Constrained
	}
	return by(step.Work{Does: []step.Doing{searches(unit, 1, c.Beams, c.Queries, c.Split)}}, c.Model, c.IDs)
}

// by says what does it all.
func by(w step.Work, model, ids step.Input) step.Work {
	for i := range w.Does {
		w.Does[i].Model, w.Does[i].Identifiers = model, ids
	}
	return w
}

// work names the published model of the same sizes.
func (c RandomT5Config) work() (w step.Work) {
	for _, s := range rates.Shapes() {
		if c.Family == "t5" && !s.Encoder && c.FeedForward == "relu" && c.Vocabulary == s.Vocabulary && c.Layers == s.Layers && cmp.Or(c.DecoderLayers, c.Layers) == s.Layers &&
			c.DModel == s.Width && c.DKV == 64 && c.DFF == s.FF && c.Heads == s.Heads {
			w.Shape = s.Name
			w.Counts = map[string]step.Amount{step.BytesCount: step.Exactly(float64(s.Bytes()))}
		}
	}
	return w
}

// like says that the model is that of files.
func like(files step.Inputs) (w step.Work) {
	if len(files) > 0 { // a config.json is mostly in the first
		w.Like = files[0]
	}
	return w
}

func (c TrainQueriesConfig) work() step.Work  { return step.Work{Like: c.Model} }
func (c ImportModelConfig) work() step.Work   { return like(c.Files) }
func (c ImportTrainedConfig) work() step.Work { return like(c.Files) }
