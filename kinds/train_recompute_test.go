package kinds_test

import (
	"maps"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestTrainRecompute: activations that are computed again are what they were, dropout
// included: the model has the same bytes under the same key, in parts and whole.
func TestTrainRecompute(t *testing.T) {
	for name, parts := range map[string]int64{"whole": 1, "parts": 3} {
		t.Run(name, func(t *testing.T) {
			few := map[string]any{"steps": int64(6), "evaluate_every": int64(6), "accumulate": parts}
			train := func(recompute bool) *artifacts.Result {
				f := newTraining(t, newLocal(t))
				config := maps.Clone(options)
				maps.Copy(config, few)
				config["checkpoint_activations"] = recompute
				res, err := f.do("train", f.with(config))
				errtest.None(t, err)
				return res
			}
			kept, again := train(false), train(true)
			if again.Key != kept.Key || again.Outputs["model"].Digest != kept.Outputs["model"].Digest {
				t.Errorf("key %s and %s, model %s and %s", again.Key, kept.Key, again.Outputs["model"].Digest, kept.Outputs["model"].Digest)
			}
		})
	}
}
