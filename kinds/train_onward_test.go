package kinds_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// onward is what a report says of where training came from and ended.
type onward struct {
	Steps         int64
	ContinuedFrom int64 `json:"continued_from"`
	Stopped       string
}

// options are all that training can do beside the paper's, with dropout.
var options = map[string]any{
	"optimizer": "adamw", "schedule": "inverse_sqrt", "warmup": int64(5), "accumulate": int64(3), "clip_norm": 1.0, "label_smoothing": 0.1,
	"weight_decay": 0.01, "beta2": 0.99, "epsilon": 1e-7, "learning_rate": 3e-3, "select": "Hits@10", "dropout": 0.1, "beams": int64(10), "evaluate_every": int64(8),
}

// longer trains for some steps and wants a report.
func (f *training) longer(want onward, changes ...map[string]any) *artifacts.Result {
	f.t.Helper()
	res, err := f.do("train", f.with(append(changes, options)...))
	errtest.None(f.t, err)
	var r onward
	f.json(res.Outputs["report"], &r)
	if r != want {
		f.t.Errorf("%+v, want %+v", r, want)
	}
	return res
}

// TestTrainMoreSteps: training with more steps continues from what a shorter one kept, with
// every option, to the model that it would have left by itself; keeping has no part in a key.
func TestTrainMoreSteps(t *testing.T) {
	steps := func(n int64) map[string]any { return map[string]any{"steps": n} }
	keep := map[string]any{"keep_state": true}
	alone, f := newTraining(t, newLocal(t)), newTraining(t, newLocal(t))
	whole := alone.longer(onward{Steps: 24}, steps(24))
	f.longer(onward{Steps: 12}, steps(12)) // which keeps nothing
	short := f.longer(onward{Steps: 11}, steps(11), keep)
	long := f.longer(onward{Steps: 24, ContinuedFrom: 11}, steps(24))
	if long.Outputs["model"].Digest != whole.Outputs["model"].Digest {
		t.Error("the model is not the one of 24 steps at once")
	}
	if long.Env[step.NotePrefix+"went on from"] != "step 11 of a run with fewer steps" || short.Env[step.NotePrefix+"went on from"] != "" {
		t.Errorf("notes: %v", long.Env)
	}
	curve := func(f *training, r *artifacts.Result) (c train.Curve) {
		f.json(r.Outputs["curve"], &c)
		for i := range c.Points {
			c.Points[i].Seconds = 0
		}
		return c
	}
	if got, want := curve(f, long), curve(alone, whole); len(got.Points) != 3 || !sameJSON(got, want) {
		t.Errorf("curve %+v, want %+v", got, want)
	}
	task, err := step.NewTask(f.Registry.Lookup("train"), f.with(steps(24), options))
	errtest.None(t, err)
	again, err := f.Rebuild(context.Background(), "train", long.Key, task, activities.RebuildOptions{})
	errtest.None(t, err)
	if again.Made.Env[step.NotePrefix+"went on from"] != "" || again.Made.Outputs["model"].Digest != long.Outputs["model"].Digest {
		t.Errorf("a rebuild went on from what was kept, or made another model: %v", again.Made.Env)
	}
	f.longer(onward{Steps: 26, ContinuedFrom: 11}, steps(26), map[string]any{"patience": int64(9)})
	f.longer(onward{Steps: 24}, steps(24), map[string]any{"clip_norm": 2.0})
	f.longer(onward{Steps: 16}, steps(16), map[string]any{"schedule": "linear"}, keep)
	f.longer(onward{Steps: 24}, steps(24), map[string]any{"schedule": "linear"}, keep)
	names := 0
	for _, err := range f.Store.Own.Records.List(context.Background(), "checkpoints/") {
		if names++; err != nil {
			t.Fatal(err)
		}
	}
	if names != 1 {
		t.Errorf("%d states are kept, want the one of 11 steps", names)
	}
}

// TestTrainPatience: the report says why there are fewer steps, and the model is the best one's.
func TestTrainPatience(t *testing.T) {
	f := newTraining(t, newLocal(t))
	still := map[string]any{"steps": int64(100), "patience": int64(2), "learning_rate": 1e-60} // moves no float32, so nothing gets better
	why := "patience: 2 evaluations in a row with no better Hits@10 than at step 8"
	f.longer(onward{Steps: 24, Stopped: why}, still, map[string]any{"weight_decay": 0.0})
}

// TestTwoStages: a trained model is trained on, with the rows of its documents, which are
// not added again; redsi.json is of the second stage.
func TestTwoStages(t *testing.T) {
	f := newTraining(t, newLocal(t))
	atomic := f.set(f.ids(docid.KindAtomic))
	stage := func(steps int64, changes map[string]any) (*artifacts.Result, trained, error) {
		t.Helper()
		res, err := f.do("train", f.with(changes, map[string]any{"steps": steps, "ids": atomic, "evaluate_every": int64(20), "beams": int64(10)}))
		var r trained
		if err == nil {
			f.json(res.Outputs["report"], &r)
		}
		return res, r, err
	}
	first, was, err := stage(40, map[string]any{"query_prefix": "ask:"})
	errtest.None(t, err)
	model := step.In(first.Outputs["model"])
	same, is, err := stage(1, map[string]any{"model": model, "learning_rate": 1e-60})
	errtest.None(t, err)
	if is.Parameters != was.Parameters || digestOf(same.Outputs["model"], "model.safetensors") != digestOf(first.Outputs["model"], "model.safetensors") {
		t.Errorf("%d parameters after %d, or other ones", is.Parameters, was.Parameters)
	}
	if text := f.text(digestOf(same.Outputs["model"], "redsi.json")); !strings.Contains(text, `"query:"`) || strings.Contains(text, "ask:") {
		t.Errorf("redsi.json is of the first stage:\n%s", text)
	}
	second, is, err := stage(40, map[string]any{"model": model, "ratio": "0:1"})
	errtest.None(t, err)
	if is.Metrics["MRR@10"] <= was.Metrics["MRR@10"] {
		t.Errorf("MRR@10 %.3f after a second stage, %.3f before it", is.Metrics["MRR@10"], was.Metrics["MRR@10"])
	}
	f.checkEvaluation(f.ids(docid.KindAtomic), is, second)
	_, _, err = stage(1, map[string]any{"model": model, "ids": f.set(f.atomic(f.rows + 1))})
	if want := "model: its atomic identifiers are rows of its vocabulary, and others would be taken for them: the model was trained on another assignment of atomic identifiers to 20 documents: give the ids that its train step was given, or start from the model that its train step started from"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("other rows: %v", err)
	}
	if _, _, err = stage(1, map[string]any{"model": model, "ids": f.set(f.ids(docid.KindNaive))}); err == nil || !strings.Contains(err.Error(), "ids are naive identifiers of 20") {
		t.Errorf("other identifiers: %v", err)
	}
	if _, r, err := stage(1, map[string]any{"model": model, "ids": f.set(f.ids(docid.KindNaive)), "init": "random"}); err != nil || r.Steps != 1 {
		t.Errorf("of random weights: %v", err)
	}
	naive, _, err := stage(1, map[string]any{"ids": f.set(f.ids(docid.KindNaive))})
	errtest.None(t, err)
	if _, r, err := stage(1, map[string]any{"model": step.In(naive.Outputs["model"])}); err != nil || r.Parameters != was.Parameters {
		t.Errorf("atomic after naive identifiers: %d parameters, %v", r.Parameters, err)
	}
}

func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}
