package train

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Checkpoints keeps a run's state outside of its process.
type Checkpoints interface {
	// Save stores every file of folder, those of its subfolders too, as the state
	// after a step: whole, or not at all.
	Save(ctx context.Context, step int64, folder string) error
	// Latest writes the newest whole checkpoint's files into folder; false if there
	// is none.
	Latest(ctx context.Context, folder string) (step int64, ok bool, err error)
}

const (
	bestFolder       = "best"       // the selected model
	checkpointFolder = "checkpoint" // the state to continue from, and a copy of best
	stateFile        = "state.json"
)

// state is what the loop itself must know to continue. The position in the data
// follows from Step, the random numbers from Seed and Step.
type state struct {
	Step     int64   `json:"step"` // updates made
	Seed     int64   `json:"seed"`
	Batch    int     `json:"batch"`
	Pass     int     `json:"pass"`     // examples of a pass
	Indexing int     `json:"indexing"` // of them, indexing ones
	Seconds  float64 `json:"seconds"`
	LossSum  float64 `json:"loss_sum"` // since the last point
	LossN    int64   `json:"loss_n"`
	Curve    Curve   `json:"curve"`
}

func newState(t *Task, s *Sampler) state {
	return state{Seed: t.Seed, Batch: t.Batch, Pass: s.Pass(), Indexing: s.Indexing(), Curve: Curve{Select: t.Select}}
}

func (s *state) add(loss float64) {
	s.Step++
	s.LossSum += loss
	s.LossN++
}

// point ends the curve's current interval.
func (s *state) point(rate float64, metrics map[string]float64) error {
	if v, ok := metrics[s.Curve.Select]; !ok || !finite(v) {
		return fmt.Errorf("the evaluation at step %d gave no %s that checkpoints could be selected by", s.Step, s.Curve.Select)
	}
	p := Point{Step: s.Step, Seconds: s.Seconds, Rate: rate, Metrics: metrics}
	if s.LossN > 0 {
		p.Loss = s.LossSum / float64(s.LossN)
	} else if n := len(s.Curve.Points); n > 0 { // all updates were left out
		p.Loss = s.Curve.Points[n-1].Loss
	}
	s.Curve.Points = append(s.Curve.Points, p)
	s.LossSum, s.LossN = 0, 0
	return nil
}

// resume restores the newest checkpoint.
func (r *run) resume(ctx context.Context) error {
	folder := filepath.Join(r.Folder, checkpointFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	step, ok, err := r.Checkpoints.Latest(ctx, folder)
	if err != nil {
		return fmt.Errorf("reading the newest checkpoint: %w", err)
	}
	if !ok {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(folder, stateFile))
	if err != nil {
		return fmt.Errorf("checkpoint of step %d: %w", step, err)
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("checkpoint of step %d, %s: %w", step, stateFile, err)
	}
	if want := r.state; s.Step != step || s.Seed != want.Seed || s.Batch != want.Batch || s.Pass != want.Pass ||
		s.Indexing != want.Indexing || s.Curve.Select != want.Curve.Select {
		return fmt.Errorf("checkpoint of step %d is of another run: its seed is %d, batch %d, pass %d, %d of it indexing, metric %s; here they are %d, %d, %d, %d, %s",
			step, s.Seed, s.Batch, s.Pass, s.Indexing, s.Curve.Select, want.Seed, want.Batch, want.Pass, want.Indexing, want.Curve.Select)
	}
	if err := r.Learner.Load(folder); err != nil {
		return fmt.Errorf("checkpoint of step %d: %w", step, err)
	}
	if _, ok := s.Curve.Best(); ok {
		if err := os.Rename(filepath.Join(folder, bestFolder), filepath.Join(r.Folder, bestFolder)); err != nil {
			return fmt.Errorf("checkpoint of step %d: %w", step, err)
		}
	}
	r.state = s
	return nil
}

// keepBest makes the present model the selected one.
func (r *run) keepBest() error {
	next := filepath.Join(r.Folder, bestFolder+".next")
	if err := fresh(next); err != nil {
		return err
	}
	if err := r.Learner.SaveModel(next); err != nil {
		return fmt.Errorf("saving the model of step %d: %w", r.state.Step, err)
	}
	best := filepath.Join(r.Folder, bestFolder)
	if err := os.RemoveAll(best); err != nil {
		return err
	}
	return os.Rename(next, best)
}

// save stores a checkpoint.
func (r *run) save(ctx context.Context) error {
	folder := filepath.Join(r.Folder, checkpointFolder)
	if err := fresh(folder); err != nil {
		return err
	}
	if err := r.Learner.Save(folder); err != nil {
		return fmt.Errorf("saving the state of step %d: %w", r.state.Step, err)
	}
	if _, ok := r.state.Curve.Best(); ok {
		if err := link(filepath.Join(r.Folder, bestFolder), filepath.Join(folder, bestFolder)); err != nil {
			return fmt.Errorf("saving the state of step %d: %w", r.state.Step, err)
		}
	}
	r.state.Seconds = r.seconds()
	data, err := json.Marshal(r.state)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, stateFile), data, 0o644); err != nil {
		return fmt.Errorf("saving the state of step %d: %w", r.state.Step, err)
	}
	if err := r.Checkpoints.Save(ctx, r.state.Step, folder); err != nil {
		return fmt.Errorf("storing the checkpoint of step %d: %w", r.state.Step, err)
	}
	r.saved, r.savedAt = r.state.Step, time.Now()
	return nil
}

// fresh makes folder an empty one.
func fresh(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.MkdirAll(folder, 0o755)
}

// link makes to a folder of hard links to from's files.
func link(from, to string) error {
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Link(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
