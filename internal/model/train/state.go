package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Checkpoints keeps a run's state outside of its process.
type Checkpoints interface {
	// Save stores every file of folder and of its subfolders as the state after a step: all of them, or none.
	Save(ctx context.Context, step int64, folder string) error
	// Latest writes the files of the newest complete checkpoint into folder, which it creates anew, and calls use with
	// the checkpoint's step. If use returns an *UnfitError or a *BeyondError, the checkpoint before that one follows.
	// false if none was of use.
	Latest(ctx context.Context, folder string, use func(step int64) error) (ok bool, err error)
}

// UnfitError says that the run cannot continue from a checkpoint's files, though all of them are there.
type UnfitError struct{ Err error }

func (e *UnfitError) Error() string { return e.Err.Error() }

func (e *UnfitError) Unwrap() error { return e.Err }

// BeyondError says that a state is of a step that the run does not come to.
type BeyondError struct{ Step, Stops int64 }

func (e *BeyondError) Error() string {
	return fmt.Sprintf("it is from step %d, and with this patience training ends at step %d", e.Step, e.Stops)
}

// Unfit makes an error of reading a checkpoint's files an *UnfitError, unless it was
// the system that could not read them.
func Unfit(err error) error {
	system, failed := errors.AsType[syscall.Errno](err)
	if err == nil || failed && system != syscall.ENOENT && system != syscall.ENOTDIR && system != syscall.EISDIR {
		return err
	}
	return &UnfitError{err}
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
	Onto     int64   `json:"onto,omitempty"` // the step of another run's state that this one went on from
}

func newState(t *Task, s *Sampler) state {
	return state{Seed: t.Seed, Batch: t.Batch, Pass: s.Pass(), Indexing: s.Indexing(), Curve: Curve{Select: t.Select}}
}

// point ends the curve's current interval.
func (s *state) point(rate float64, metrics map[string]float64) error {
	if v, ok := metrics[s.Curve.Select]; !ok || !Finite(v) {
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

// resume restores the newest checkpoint that can be.
func (r *run) resume(ctx context.Context) error {
	found, err := r.latest(ctx, r.Checkpoints)
	if err != nil {
		return fmt.Errorf("continuing from a checkpoint: %w", err)
	}
	if found || r.Onward == nil {
		return nil
	}
	if found, err = r.latest(ctx, r.Onward); err != nil {
		return fmt.Errorf("continuing from another run's state: %w", err)
	}
	if found {
		r.state.Onto = r.state.Step
	}
	return nil
}

// latest restores the newest state of a list that can be.
func (r *run) latest(ctx context.Context, of Checkpoints) (found bool, err error) {
	folder := filepath.Join(r.Folder, checkpointFolder)
	return of.Latest(ctx, folder, func(step int64) error {
		if err := r.restore(folder, step); err != nil {
			return fmt.Errorf("checkpoint of step %d: %w", step, err)
		}
		return nil
	})
}

// restore makes a folder's state the run's. After an *UnfitError the run is as it was.
func (r *run) restore(folder string, step int64) error {
	data, err := os.ReadFile(filepath.Join(folder, stateFile))
	if err != nil {
		return Unfit(err)
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return Unfit(fmt.Errorf("%s: %w", stateFile, err))
	}
	if s.Step != step {
		return Unfit(fmt.Errorf("%s is from step %d", stateFile, s.Step))
	}
	if err := r.check(&s); err != nil {
		return Unfit(fmt.Errorf("%s: %w", stateFile, err))
	}
	if at, stops := s.Curve.Stops(r.Patience); stops && at < s.Step {
		return &BeyondError{s.Step, at}
	}
	best := filepath.Join(folder, bestFolder)
	_, chosen := s.Curve.Best()
	if chosen {
		if err := r.Learner.CheckModel(best); err != nil {
			return fmt.Errorf("%s: %w", bestFolder, err)
		}
	}
	if err := r.Learner.Load(folder); err != nil {
		return err
	}
	r.state = s
	if chosen {
		return os.Rename(best, filepath.Join(r.Folder, bestFolder))
	}
	return nil
}

// check says what in a state could not have come about in this run.
func (r *run) check(s *state) error {
	want := r.state
	if s.Seed != want.Seed || s.Batch != want.Batch || s.Pass != want.Pass || s.Indexing != want.Indexing || s.Curve.Select != want.Curve.Select {
		return fmt.Errorf("it is from another run: its seed is %d, batch %d, pass %d, %d of it indexing, metric %s; here they are %d, %d, %d, %d, %s",
			s.Seed, s.Batch, s.Pass, s.Indexing, s.Curve.Select, want.Seed, want.Batch, want.Pass, want.Indexing, want.Curve.Select)
	}
	if s.Step < 1 || s.Step > r.Steps || s.LossN < 0 || s.LossN > s.Step || s.Seconds < 0 {
		return fmt.Errorf("step %d of %d, %d losses in %v seconds", s.Step, r.Steps, s.LossN, s.Seconds)
	}
	last := int64(0)
	for _, p := range s.Curve.Points {
		if next := r.evaluationAfter(last); p.Step != next || next > s.Step {
			return fmt.Errorf("after step %d its curve has step %d", last, p.Step)
		}
		if _, ok := p.Metrics[s.Curve.Select]; !ok {
			return fmt.Errorf("its curve has no %s of step %d", s.Curve.Select, p.Step)
		}
		last = p.Step
	}
	if next := r.evaluationAfter(last); next < s.Step {
		return fmt.Errorf("its curve has nothing of step %d", next)
	}
	return nil
}

// evaluationAfter is the next step that is evaluated.
func (r *run) evaluationAfter(step int64) int64 {
	if step >= r.Steps {
		return math.MaxInt64
	}
	return min(step-step%r.EvaluateEvery+r.EvaluateEvery, r.Steps)
}

// owes says that the present step is evaluated and was not: the run ended meanwhile.
func (r *run) owes() bool {
	last := int64(0)
	if n := len(r.state.Curve.Points); n > 0 {
		last = r.state.Curve.Points[n-1].Step
	}
	return r.evaluationAfter(last) == r.state.Step
}

// keepBest makes the present model the selected one.
func (r *run) keepBest() error {
	next := filepath.Join(r.Folder, bestFolder+".next")
	err := fresh(next)
	if err == nil {
		err = r.Learner.SaveModel(next)
	}
	if err != nil {
		return fmt.Errorf("saving the model of step %d: %w", r.state.Step, err)
	}
	best := filepath.Join(r.Folder, bestFolder)
	if err := os.RemoveAll(best); err != nil {
		return err
	}
	return os.Rename(next, best)
}

func (r *run) save(ctx context.Context) error {
	if err := r.store(ctx, r.Checkpoints); err != nil {
		return err
	}
	r.saved, r.savedAt = r.state.Step, time.Now()
	return nil
}

// keep stores the state for longer runs, which have no other state of this step.
func (r *run) keep(ctx context.Context) error {
	if !r.Keep || r.Onward == nil || r.state.Onto == r.state.Step {
		return nil
	}
	return r.store(ctx, r.Onward)
}

func (r *run) store(ctx context.Context, in Checkpoints) error {
	if err := r.losses(true); err != nil {
		return err
	}
	folder := filepath.Join(r.Folder, checkpointFolder)
	if err := r.write(folder); err != nil {
		return fmt.Errorf("saving the state of step %d: %w", r.state.Step, err)
	}
	if err := in.Save(ctx, r.state.Step, folder); err != nil {
		return fmt.Errorf("storing the checkpoint of step %d: %w", r.state.Step, err)
	}
	return nil
}

func (r *run) write(folder string) error {
	err := fresh(folder)
	if err == nil {
		err = r.Learner.Save(folder)
	}
	if _, ok := r.state.Curve.Best(); ok && err == nil {
		err = link(filepath.Join(r.Folder, bestFolder), filepath.Join(folder, bestFolder))
	}
	if err != nil {
		return err
	}
	r.state.Seconds = r.seconds()
	data, err := json.Marshal(r.state)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, stateFile), data, 0o644)
}

func fresh(folder string) error {
	return errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755))
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
