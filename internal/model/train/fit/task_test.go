package fit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/train"
)

// shelf keeps checkpoints in a folder per step.
type shelf struct {
	folder string
	steps  []int64
}

func (s *shelf) Save(_ context.Context, step int64, folder string) error {
	s.steps = append(s.steps, step)
	return os.CopyFS(filepath.Join(s.folder, fmt.Sprint(step)), os.DirFS(folder))
}

func (s *shelf) Latest(_ context.Context, folder string, use func(int64) error) (bool, error) {
	if len(s.steps) == 0 {
		return false, nil
	}
	step := slices.Max(s.steps)
	err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(filepath.Join(s.folder, fmt.Sprint(step)))))
	if err == nil {
		err = use(step)
	}
	return err == nil, err
}

func examples(documents, queries int) *train.Data {
	d := &train.Data{}
	for i := range documents {
		d.Indexing = append(d.Indexing, train.Example{Input: []int32{5, int32(i), 1}, Target: []int32{int32(i), 1}})
	}
	for i := range queries {
		d.Retrieval = append(d.Retrieval, train.Example{Input: []int32{int32(i), 1}, Target: []int32{int32(i % documents), 7, 1}})
	}
	return d
}

// t5Task has a metric that rises to step 25 and falls again.
func t5Task(t *testing.T, l train.Learner, keep *shelf) train.Task {
	return train.Task{
		Config: train.Config{Steps: 40, Batch: 8, Seed: 3, Schedule: train.Schedule{Rate: 1e-3, Warmup: 10}, EvaluateEvery: 5, Select: "MRR@10", CheckpointEvery: 20},
		Data:   examples(30, 50), Vocabulary: 100, Learner: l, Checkpoints: keep, Folder: t.TempDir(),
		Evaluate: func(_ context.Context, step int64) (map[string]float64, error) {
			return map[string]float64{"MRR@10": 1 - math.Abs(float64(step)-25)/100}, nil
		},
	}
}

// history is a curve without its wall clock.
func history(c *train.Curve) string {
	out := *c
	out.Points = slices.Clone(c.Points)
	for i := range out.Points {
		out.Points[i].Seconds = 0
	}
	data, _ := json.Marshal(out)
	return string(data)
}
