package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// sum is a learner of one number: every update mixes in the batch, the step and the
// rate, so that any deviation shows.
type sum struct {
	Value  uint64
	onStep func(step int64) (float64, error)
	losses []Loss
	late   int // losses that are not told before they must be
}

// errLeftOut says that an update has no loss.
var errLeftOut = errors.New("left out")

func (s *sum) Prepare(*Batch) error { return nil }

func (s *sum) Losses(all bool) (losses []Loss, err error) {
	if !all && len(s.losses) <= s.late {
		return nil, nil
	}
	losses, s.losses = s.losses, nil
	return losses, nil
}

func (s *sum) Step(ctx context.Context, b *Batch, step int64, rate float64) error {
	loss, err := s.update(ctx, b, step, rate)
	if errors.Is(err, errLeftOut) {
		s.losses = append(s.losses, Loss{Left: true})
		return nil
	}
	if err == nil {
		s.losses = append(s.losses, Loss{Value: loss})
	}
	return err
}

func (s *sum) update(_ context.Context, b *Batch, step int64, rate float64) (float64, error) {
	s.Value = splitmix.Finish(s.Value + uint64(step) + math.Float64bits(rate))
	for _, tokens := range append(slices.Clone(b.Inputs), b.Targets...) {
		for _, v := range tokens {
			s.Value = splitmix.Finish(s.Value + uint64(v))
		}
	}
	if s.onStep != nil {
		if loss, err := s.onStep(step); loss != 0 || err != nil {
			return loss, err
		}
	}
	return 1 / float64(step+1), nil
}

func (s *sum) Save(folder string) error      { return s.write(filepath.Join(folder, "sum")) }
func (s *sum) SaveModel(folder string) error { return s.write(filepath.Join(folder, "model")) }
func (s *sum) write(path string) error       { return os.WriteFile(path, fmt.Append(nil, s.Value), 0o644) }
func (s *sum) Load(folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, "sum"))
	var v uint64
	if err == nil {
		_, err = fmt.Sscan(string(data), &v)
	}
	if err == nil {
		s.Value = v
	}
	return Unfit(err)
}
func (s *sum) CheckModel(folder string) error {
	_, err := os.Stat(filepath.Join(folder, "model"))
	return Unfit(err)
}

// shelf keeps checkpoints in a folder per step.
type shelf struct {
	folder string
	steps  []int64
	fail   error
	passed []int64 // steps of checkpoints that were of no use
	most   int64   // step that Latest gives; 0: any
}

func (s *shelf) Save(_ context.Context, step int64, folder string) error {
	if s.fail != nil {
		return s.fail
	}
	s.steps = append(s.steps, step)
	to := filepath.Join(s.folder, fmt.Sprint(step))
	return errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(folder)))
}

func (s *shelf) Latest(_ context.Context, folder string, use func(int64) error) (bool, error) {
	for _, step := range slices.Backward(slices.Sorted(slices.Values(s.steps))) {
		if s.most > 0 && step > s.most {
			continue
		}
		err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(filepath.Join(s.folder, fmt.Sprint(step)))))
		if err == nil {
			err = use(step)
		}
		if errors.As(err, new(*BeyondError)) {
			continue
		}
		if !errors.As(err, new(*UnfitError)) {
			return err == nil, err
		}
		s.passed = append(s.passed, step)
	}
	return false, nil
}

func newShelf(t *testing.T) *shelf { return &shelf{folder: t.TempDir()} }

// metric rises to step 25 and falls again.
func metric(_ context.Context, step int64) (map[string]float64, error) {
	return map[string]float64{"MRR@10": 1 - math.Abs(float64(step)-25)/100}, nil
}

// task keeps its checkpoints where it is said, or on a shelf of its own.
func task(t *testing.T, s *sum, keep *shelf) Task {
	if keep == nil {
		keep = newShelf(t)
	}
	return Task{
		Config: Config{Steps: 40, Batch: 8, Seed: 3, Schedule: Schedule{Rate: 1e-3, Warmup: 10}, EvaluateEvery: 5, Select: "MRR@10"},
		Data:   examples(30, 50), Vocabulary: 100, Learner: s, Evaluate: metric, Checkpoints: keep, Folder: t.TempDir(),
	}
}

var errKilled = errors.New("killed")

// killed trains until a step, after which the process ends.
func killed(t *testing.T, k Task, at int64) {
	t.Helper()
	k.Learner.(*sum).onStep = func(step int64) (float64, error) {
		if step == at {
			return 0, errKilled
		}
		return 0, nil
	}
	if err := testkit.Err(Train(context.Background(), k)); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
}

// result is what training comes to, however it came to it.
type result struct {
	value        uint64
	curve, model string
}

func trained(t *testing.T, k Task) (result, *Outcome) {
	t.Helper()
	out := testkit.Value(Train(context.Background(), k))(t)
	return result{k.Learner.(*sum).Value, history(out.Curve), string(goldens.Text(t, filepath.Join(out.Model, "model")))}, out
}

// history is a curve without its wall clock.
func history(c *Curve) string {
	out := *c
	out.Points = append([]Point(nil), c.Points...)
	for i := range out.Points {
		out.Points[i].Seconds = 0
	}
	data, _ := json.Marshal(out)
	return string(data)
}

func TestTrainResumes(t *testing.T) {
	want, whole := trained(t, task(t, &sum{}, nil))
	if whole.Best.Step != 25 || len(want.model) == 0 || len(whole.Curve.Points) != 8 {
		t.Errorf("outcome %+v, model %q", whole, want.model)
	}
	for kill := range int64(40) {
		keep, second := newShelf(t), &sum{}
		if killed(t, task(t, &sum{}, keep), kill); len(keep.steps) > 0 {
			second.Value = 99
		}
		if got, out := trained(t, task(t, second, keep)); got != want || out.From != kill/5*5 {
			t.Errorf("killed at step %d, resumed at %d: %+v, want %+v", kill, out.From, got, want)
		}
	}
}

// TestTrainDiverges: scores of an evaluation that are not finite end training, as a loss does (TestTrainHearsLate).
func TestTrainDiverges(t *testing.T) {
	var diverged *DivergedError
	k := task(t, &sum{}, nil)
	judge := k.Evaluate
	k.Evaluate = func(ctx context.Context, step int64) (map[string]float64, error) {
		if step > 10 {
			return nil, fmt.Errorf("beams: %w", &NotFiniteError{})
		}
		return judge(ctx, step)
	}
	if _, err := Train(context.Background(), k); !errors.As(err, &diverged) || !strings.Contains(err.Error(), "scores are not finite: training diverged; the checkpoint of step 10 is kept") {
		t.Errorf("an evaluation's scores: %v", err)
	}
}

// TestTrainLeavesOut: updates that are left out have no part in the curve's losses; a
// point of nothing but such has that of the one before.
func TestTrainLeavesOut(t *testing.T) {
	s := &sum{onStep: func(step int64) (float64, error) {
		if step == 2 || step >= 5 && step < 10 {
			return 0, errLeftOut
		}
		return float64(step + 1), nil
	}}
	_, out := trained(t, task(t, s, nil))
	for i, want := range []float64{(1 + 2 + 4 + 5) / 4.0, 3, 13} {
		if p := out.Curve.Points[i]; p.Loss != want || p.Step != int64(5*i+5) {
			t.Errorf("point %d: %+v, want loss %v", i, p, want)
		}
	}
}

func TestTrainMistakes(t *testing.T) {
	for want, change := range map[string]func(*Task){
		"0 steps":            func(k *Task) { k.Steps = 0 },
		"batches of 0":       func(k *Task) { k.Batch = 0 },
		"learning rate":      func(k *Task) { k.Schedule.Rate = math.NaN() },
		"warmup":             func(k *Task) { k.Schedule.Warmup = -1 },
		"evaluation every 0": func(k *Task) { k.EvaluateEvery = 0 },
		"no metric":          func(k *Task) { k.Select = "" },
		"every -1":           func(k *Task) { k.CheckpointEvery = -1 },
		"vocabulary has 3":   func(k *Task) { k.Vocabulary = 3 },
		"gave no Hits@1":     func(k *Task) { k.Select = "Hits@1" },
		"disk is full":       func(k *Task) { k.Checkpoints.(*shelf).fail = errors.New("disk is full") },
		"no judge": func(k *Task) {
			k.Evaluate = func(context.Context, int64) (map[string]float64, error) { return nil, errors.New("no judge") }
		},
	} {
		k := task(t, &sum{}, nil)
		change(&k)
		testkit.ErrSays(t, testkit.Err(Train(context.Background(), k)), want)
	}
}

// TestTrainPassesOver: a checkpoint that this run cannot have written is none to go on
// from; the one before it is, or the beginning.
func TestTrainPassesOver(t *testing.T) {
	want, _ := trained(t, task(t, &sum{}, nil))
	edit := func(old, new string) func(string) error {
		return func(folder string) error {
			path := filepath.Join(folder, stateFile)
			data, err := os.ReadFile(path)
			if err == nil && !strings.Contains(string(data), old) {
				err = fmt.Errorf("no %s in %s", old, data)
			}
			return errors.Join(err, os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o644))
		}
	}
	remove := func(name string) func(string) error {
		return func(folder string) error { return os.RemoveAll(filepath.Join(folder, name)) }
	}
	for what, spoil := range map[string]func(folder string) error{
		"no state": remove(stateFile),
		"a folder as state": func(folder string) error {
			return errors.Join(remove(stateFile)(folder), os.Mkdir(filepath.Join(folder, stateFile), 0o755))
		},
		"not JSON":          edit("{", "["),
		"another step":      edit(`"step":20`, `"step":25`),
		"another seed":      edit(`"seed":3`, `"seed":4`),
		"a foreign metric":  edit(`"select":"MRR@10"`, `"select":"Hits@1"`),
		"negative losses":   edit(`"loss_n":0`, `"loss_n":-1`),
		"a point too many":  edit(`"step":15`, `"step":16`),
		"a point without":   edit(`"MRR@10":0.`, `"MRR@1":0.`),
		"a missing point":   edit(`"points":[{"step":5,`, `"points":[{"step":10,`),
		"no learner":        remove("sum"),
		"no selected model": remove(bestFolder),
		"another file as selected model": func(folder string) error {
			return os.Rename(filepath.Join(folder, bestFolder, "model"), filepath.Join(folder, bestFolder, "m"))
		},
	} {
		keep := newShelf(t)
		killed(t, task(t, &sum{}, keep), 22)
		keep.steps = []int64{15, 20}
		testkit.None(t, spoil(filepath.Join(keep.folder, "20")), what)
		if got, out := trained(t, task(t, &sum{}, keep)); got != want || out.From != 15 || fmt.Sprint(keep.passed) != "[20]" {
			t.Errorf("%s: resumed at step %d, %v passed over: %+v, want %+v", what, out.From, keep.passed, got, want)
		}
	}
	keep := newShelf(t)
	trained(t, task(t, &sum{}, keep))
	other := task(t, &sum{}, keep)
	other.Seed, keep.steps = 4, []int64{35, 40}
	if got, err := Train(context.Background(), other); err != nil || got.From != 0 || fmt.Sprint(keep.passed) != "[40 35]" {
		t.Errorf("with another seed's checkpoints alone: %+v, %v, %v passed over", got, err, keep.passed)
	}
	keep = newShelf(t)
	trained(t, task(t, &sum{}, keep))
	keep.steps = []int64{35}
	testkit.None(t, errors.Join(os.Remove(filepath.Join(keep.folder, "35", "sum")), os.Symlink("sum", filepath.Join(keep.folder, "35", "sum"))))
	if _, err := Train(context.Background(), task(t, &sum{}, keep)); err == nil || len(keep.passed) > 0 {
		t.Errorf("a checkpoint that the system cannot read: %v, %v passed over", err, keep.passed)
	}
}

// TestTrainEndsInEvaluation: a run that is told to end while it evaluates makes up for
// the evaluation, and comes to the same curve and model.
func TestTrainEndsInEvaluation(t *testing.T) {
	want, _ := trained(t, task(t, &sum{}, nil))
	for _, at := range []int64{5, 25, 40} {
		ctx, cancel := context.WithCancel(context.Background())
		keep := newShelf(t)
		k := task(t, &sum{}, keep)
		k.Evaluate = func(ctx context.Context, step int64) (map[string]float64, error) {
			if step == at {
				cancel()
				return nil, ctx.Err()
			}
			return metric(ctx, step)
		}
		if _, err := Train(ctx, k); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if got, out := trained(t, task(t, &sum{}, keep)); got != want || out.From != at {
			t.Errorf("told to end at %d, resumed at %d: %+v, want %+v", at, out.From, got, want)
		}
	}
}

func TestTrainReports(t *testing.T) {
	k := task(t, &sum{}, nil)
	var all []Progress
	k.Report = func(p Progress) { all = append(all, p) }
	trained(t, k)
	last := all[len(all)-1]
	if len(all) != 40 || last.Done != 40 || last.Total != 40 || last.Unit != "steps" || !strings.Contains(last.Note, "best MRR@10 100.00 % at step 25") {
		t.Errorf("%d reports, the last is %+v", len(all), last)
	}
}
