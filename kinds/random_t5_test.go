package kinds_test

import (
	"encoding/json"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// TestRandomFamilies: random models of each family and feed-forward layer are what
// import_model takes for them.
func TestRandomFamilies(t *testing.T) {
	l := newLocal(t)
	tokenizer := l.tree("files", map[string][]byte{"tokenizer.json": readFile(t, smallTokenizer)})
	sizes := func(family, feedForward string) map[string]any {
		return map[string]any{"family": family, "feed_forward": feedForward, "layers": int64(1), "d_model": int64(8), "d_kv": int64(4), "d_ff": int64(8), "heads": int64(2), "vocabulary": int64(150)}
	}
	for _, c := range []struct {
		family, feedForward string
		tied                bool
	}{{"t5", "relu", true}, {"t5", "gelu", true}, {"t5", "gated-silu", false}, {"mt5", "gated-gelu", false}, {"umt5", "gated-gelu", false}} {
		made, err := l.do("random_t5", sizes(c.family, c.feedForward))
		errtest.None(t, err)
		model := made.Outputs["model"]
		res, err := l.do("import_model", map[string]any{"files": []any{step.In(model)}, "tokenizer": []any{tokenizer}})
		if err != nil {
			t.Errorf("%s, %s: %v", c.family, c.feedForward, err)
			continue
		}
		if res.Outputs["model"].Digest != model.Digest {
			t.Errorf("%s: the model changes", c.family)
		}
		f, _ := model.File("config.json")
		var config map[string]any
		errtest.None(t, json.Unmarshal(l.bytes(artifacts.Artifact{Digest: f.Digest}), &config))
		if config["model_type"] != c.family || config["tie_word_embeddings"] != c.tied || config["feed_forward_proj"] != c.feedForward {
			t.Errorf("%s, %s: %v", c.family, c.feedForward, config)
		}
	}
	errtest.Says(t, errtest.Of(l.Registry.Lookup("random_t5").Complete(sizes("mt5", "relu"))), "feed_forward: must be a gated one for a multilingual T5")
}
