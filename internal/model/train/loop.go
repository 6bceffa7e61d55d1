package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Config is how a model is trained. The paper's values are in comments.
type Config struct {
	Steps    int64 // updates: 1,000,000
	Batch    int   // examples per update: 128
	Ratio    Ratio // natural
	Seed     int64
	Schedule Schedule // 5e-4 after 10,000 steps for atomic identifiers, else 1e-3

	EvaluateEvery int64  // steps: 5,000; the last step is always evaluated
	Select        string // the metric that chooses the checkpoint: MRR@10
	Patience      int    // evaluations in a row without a better one after which training ends; 0: it goes to the end

	CheckpointEvery int64         // steps; 0: after each evaluation
	CheckpointAfter time.Duration // also once so much time has passed; 0: never
}

func (c *Config) Check() error {
	switch {
	case c.Steps < 1:
		return fmt.Errorf("training of %d steps; at least 1 is needed", c.Steps)
	case c.Batch < 1:
		return fmt.Errorf("batches of %d examples; at least 1 is needed", c.Batch)
	case c.Schedule.check() != nil:
		return c.Schedule.check()
	case c.EvaluateEvery < 1:
		return fmt.Errorf("evaluation every %d steps; at least 1 is needed", c.EvaluateEvery)
	case c.Select == "":
		return errors.New("no metric to select the checkpoint by is named, such as MRR@10")
	case c.Patience < 0:
		return fmt.Errorf("patience of %d evaluations", c.Patience)
	case c.CheckpointEvery < 0 || c.CheckpointAfter < 0:
		return fmt.Errorf("a checkpoint every %d steps or %v", c.CheckpointEvery, c.CheckpointAfter)
	}
	return nil
}

// Learner is a model in training with its optimizer.
type Learner interface {
	// Prepare does the part of a Step that needs no model, and may be called while another batch's Step is running.
	Prepare(b *Batch) error
	// Step makes one update. step counts from 0 and stands for the random numbers that the update draws.
	Step(ctx context.Context, b *Batch, step int64, rate float64) error
	// Losses are the outcomes of the updates since its last call, in their order: all of them, or as many as are there
	// without waiting for a device, which may be none.
	Losses(all bool) ([]Loss, error)
	// Save writes files into a folder from which Load restores the exact state. It
	// fails with a *NotFiniteError if a parameter is not finite.
	Save(folder string) error
	// Load fails with an *UnfitError, and changes nothing, if Save cannot have written the files.
	Load(folder string) error
	// SaveModel writes only the model, as transformers does, into a folder. It fails as Save does.
	SaveModel(folder string) error
	// CheckModel fails with an *UnfitError if SaveModel cannot have written the files.
	CheckModel(folder string) error
}

// Loss is the outcome of an update.
type Loss struct {
	Value float64 // the batch's mean loss per label, before the update
	// Left: fp16 overflowed in the forward pass, there is no loss, nothing was changed, and training goes on.
	Left bool
	// Gradients: they are not finite though the loss is, and nothing was changed.
	Gradients bool
	// Scale is what fp16's loss scale fell to, where it is too low to go on with; 0: it is not.
	Scale float64
}

// Evaluate measures the learner's present model on the development queries. It is called between steps and must not
// change the learner's state. It fails with a *NotFiniteError if the model's scores are not numbers.
type Evaluate func(ctx context.Context, step int64) (map[string]float64, error)

// Progress is how far training is.
type Progress struct {
	Done, Total int64
	Unit        string
	Note        string        // loss, speed, time left, the best evaluation
	Left        time.Duration // estimated; 0: not measured yet
}

// Task is one training run.
type Task struct {
	Config
	Data        *Data
	Vocabulary  int // of the model, document tokens included
	Learner     Learner
	Evaluate    Evaluate
	Checkpoints Checkpoints
	Onward      Checkpoints    // of runs that differ in Steps and Patience: where this one continues from; nil: there are none
	Keep        bool           // the state at the end in Onward
	Report      func(Progress) // may be nil
	Folder      string         // an empty one, for this run's files
}

// Outcome is what a run leaves.
type Outcome struct {
	Curve *Curve
	Best  Point
	Model string // folder with the selected checkpoint's model, as transformers writes it
	From  int64  // the step that the run was resumed at; 0: it was not
	Onto  int64  // the step of another run's state that it went on from; 0: it began at the start
	Steps int64  // updates made
}

// NotFiniteError names a parameter that is infinite or no number; "": the model's
// scores are, whichever parameter that comes from.
type NotFiniteError struct{ Parameter string }

func (e *NotFiniteError) Error() string {
	if e.Parameter == "" {
		return "the model's scores are not finite"
	}
	return fmt.Sprintf("parameter %s is not finite", e.Parameter)
}

// DivergedError says that training went out of range. The newest checkpoint is of an earlier step and stays as it is.
type DivergedError struct {
	Step  int64           // the update, counted from 1
	Loss  float64         // of its batch, before the update
	Grads bool            // its gradients are not finite, and nothing was changed
	Scale float64         // of the loss, in fp16, which fell too low; 0: it did not
	After *NotFiniteError // what the update left; nil, without Grads and Scale: the loss itself is not finite
	Kept  int64           // step of the newest checkpoint; 0: none
}

func (e *DivergedError) Error() string {
	what := fmt.Sprintf("the loss of step %d is %v", e.Step, e.Loss)
	switch {
	case e.Scale > 0:
		what = fmt.Sprintf("after step %d the loss scale is %.5g, so often did the gradients overflow fp16", e.Step, e.Scale)
	case e.Grads:
		what = fmt.Sprintf("the loss of step %d is %v, its gradients are not finite", e.Step, e.Loss)
	case e.After != nil:
		what = fmt.Sprintf("after step %d %v", e.Step, e.After)
	}
	kept := "there is no checkpoint before it"
	if e.Kept > 0 {
		kept = fmt.Sprintf("the checkpoint of step %d is kept", e.Kept)
	}
	return fmt.Sprintf("%s: training diverged; %s; try a lower learning rate, a warmup, or fp32 or bf16 instead of fp16", what, kept)
}

// Train runs the task, from its newest checkpoint if there is one. If ctx ends, it
// saves a checkpoint and returns ctx's error.
func Train(ctx context.Context, t Task) (*Outcome, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := t.Data.Check(t.Vocabulary); err != nil {
		return nil, &DataError{err}
	}
	sampler, err := NewSampler(t.Data, t.Ratio, t.Seed, t.Batch)
	if err != nil {
		return nil, &DataError{err}
	}
	r := &run{Task: t, sampler: sampler, state: newState(&t, sampler)}
	if err := r.resume(ctx); err != nil {
		return nil, err
	}
	if err := r.loop(ctx); err != nil {
		return nil, err
	}
	best, ok := r.state.Curve.Best()
	if !ok {
		return nil, fmt.Errorf("no evaluation gave the metric %s", t.Select)
	}
	if r.onGrid() {
		if err := r.keep(ctx); err != nil {
			return nil, err
		}
	}
	curve := r.state.Curve
	if r.stopped() && r.state.Step < r.Steps {
		curve.Stopped = fmt.Sprintf("patience: %d evaluations in a row with no better %s than at step %d", r.Patience, t.Select, best.Step)
	}
	return &Outcome{Curve: &curve, Best: best, Model: filepath.Join(t.Folder, bestFolder), From: r.from, Onto: r.state.Onto, Steps: r.state.Step}, nil
}

// onGrid reports whether the present step is evaluated in a longer run as well.
func (r *run) onGrid() bool { return r.state.Step%r.EvaluateEvery == 0 }

// stopped reports whether patience is at its end.
func (r *run) stopped() bool {
	at, stops := r.state.Curve.Stops(r.Patience)
	return stops && at <= r.state.Step
}

// run is a task in progress.
type run struct {
	Task
	sampler *Sampler
	state   state

	from       int64   // step at which this process began
	saved      int64   // step of the newest checkpoint
	lossesRead int64   // updates whose losses were read
	loss       float64 // of the newest of them that had one, for people

	began       time.Time // of this process's part
	before      float64   // seconds of earlier parts
	savedAt     time.Time
	evaluations time.Duration // of this process's part
}

func (r *run) loop(ctx context.Context) error {
	r.from, r.saved, r.lossesRead = r.state.Step, r.state.Step, r.state.Step
	r.began, r.savedAt, r.before = time.Now(), time.Now(), r.state.Seconds
	if r.owes() {
		if err := r.mark(ctx, r.Schedule.At(r.state.Step-1)); err != nil {
			return r.diverged(err)
		}
	}
	batches, stop := r.ahead(ctx)
	defer stop()
	for r.state.Step < r.Steps && !r.stopped() {
		if ctx.Err() != nil {
			return r.leave(ctx)
		}
		step := r.state.Step
		rate := r.Schedule.At(step)
		next, ok := <-batches
		err := next.err
		if !ok {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = r.Learner.Step(ctx, next.Batch, step, rate)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return r.leave(ctx)
		case err != nil:
			return fmt.Errorf("training step %d: %w", step+1, err)
		}
		r.state.Step++
		if err := r.losses(false); err != nil {
			return err
		}
		if err := r.mark(ctx, rate); err != nil {
			return r.diverged(err)
		}
		r.report()
	}
	return nil
}

// losses takes note of the outcomes of updates: all, or the outcomes that are there without waiting.
func (r *run) losses(all bool) error {
	losses, err := r.Learner.Losses(all)
	if err != nil {
		return fmt.Errorf("training step %d: %w", r.state.Step, err)
	}
	for _, l := range losses {
		r.lossesRead++
		switch {
		case l.Scale > 0:
			return &DivergedError{Step: r.lossesRead, Loss: l.Value, Scale: l.Scale, Kept: r.saved}
		case l.Left:
		case l.Gradients, !Finite(l.Value):
			return &DivergedError{Step: r.lossesRead, Loss: l.Value, Grads: l.Gradients, Kept: r.saved}
		default:
			r.loss = l.Value
			r.state.LossSum += l.Value
			r.state.LossN++
		}
	}
	return nil
}

// diverged names the step of an error that says that the model went out of range.
func (r *run) diverged(err error) error {
	if bad := new(NotFiniteError); errors.As(err, &bad) {
		return &DivergedError{Step: r.state.Step, Loss: r.loss, After: bad, Kept: r.saved}
	}
	return err
}

// mark evaluates and saves if it is time for that.
func (r *run) mark(ctx context.Context, rate float64) error {
	step := r.state.Step
	evaluate := r.onGrid() || step == r.Steps
	if evaluate {
		err := r.losses(true)
		if err == nil && !r.onGrid() { // a longer run has no evaluation here
			err = r.keep(ctx)
		}
		if err != nil {
			return err
		}
		begin := time.Now()
		metrics, err := r.Evaluate(ctx, step)
		if err != nil {
			if ctx.Err() != nil {
				return r.leave(ctx)
			}
			return fmt.Errorf("evaluation at step %d: %w", step, err)
		}
		r.evaluations += time.Since(begin)
		r.state.Seconds = r.seconds()
		if err := r.state.point(rate, metrics); err != nil {
			return err
		}
		if best, _ := r.state.Curve.Best(); best.Step == step {
			if err := r.keepBest(); err != nil {
				return err
			}
		}
	}
	due := evaluate
	if r.CheckpointEvery > 0 {
		due = step%r.CheckpointEvery == 0
	}
	due = due || r.CheckpointAfter > 0 && time.Since(r.savedAt) >= r.CheckpointAfter
	if due || step == r.Steps || r.stopped() {
		return r.save(ctx)
	}
	return nil
}

// leave saves what was done when the run is told to end. ctx is over already.
func (r *run) leave(ctx context.Context) error {
	if r.state.Step > r.saved {
		if err := r.save(context.WithoutCancel(ctx)); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	return ctx.Err()
}

// seconds is the wall clock of the run and of its earlier parts.
func (r *run) seconds() float64 { return r.before + time.Since(r.began).Seconds() }

func (r *run) report() {
	if r.Report == nil {
		return
	}
	done := r.state.Step - r.from
	spent := time.Since(r.began) - r.evaluations
	perStep := spent / time.Duration(done)
	left := time.Duration(r.Steps-r.state.Step) * perStep
	if n := done / r.EvaluateEvery; n > 0 { // evaluations to come, as long as those before
		left += r.evaluations / time.Duration(n) * time.Duration((r.Steps-r.state.Step)/r.EvaluateEvery)
	}
	note := fmt.Sprintf("%.1f steps/s", 1/perStep.Seconds())
	if r.lossesRead > r.from {
		note = fmt.Sprintf("loss %.4f, %s", r.loss, note)
	}
	if best, ok := r.state.Curve.Best(); ok {
		note += fmt.Sprintf(", best %s %.2f %% at step %d", r.Select, 100*best.Metrics[r.Select], best.Step)
	}
	r.Report(Progress{Done: r.state.Step, Total: r.Steps, Unit: "steps", Note: note, Left: left})
}
