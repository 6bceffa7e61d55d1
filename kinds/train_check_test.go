package kinds_test

import (
	"maps"
	"math"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestTrainChecks: mistakes in a configuration are told with the attribute. Bounds and choices of one attribute are in
// docs/kinds.
func TestTrainChecks(t *testing.T) {
	in := step.In(artifacts.Artifact{Type: "files", Digest: artifacts.Sum([]byte("x"))})
	whole := map[string]map[string]any{
		"naive_ids":  {"documents": in, "tokenizer": in, "budget": int64(9)},
		"compare":    {"systems": map[string]any{"a.b": in, "c.d": in, "e:f": in}, "baselines": []any{"a.b"}},
		"export_run": {"runs": map[string]any{"x y": in, "a b": in}, "documents": in, "queries": in},
		"train":      {"model": in, "ids": in, "corpus": in, "queries": in, "tokenizer": in},
		"random_t5":  {"layers": int64(1), "d_model": int64(8), "d_kv": int64(8), "d_ff": int64(8), "heads": int64(1)},
	}
	for _, c := range []struct {
		kind string
		bad  map[string]any
		want string // "" if nothing is wrong
	}{
		{"train", nil, ""},
		{"train", map[string]any{"ratio": "32:1", "select": "Recall@100", "dropout": 0.0, "precision": "fp16", "init": "random", "device": "cuda:1", "checkpoint_every": int64(7)}, ""},
		{"train", map[string]any{"index_prefix": "", "query_prefix": "", "scale_parameter": false, "repeats": "by_queries", "ratio": "1:1"}, ""},
		{"train", map[string]any{"repeats": "by_queries"}, `repeats: by_queries applies only to ratio = "1:1"; with ratio = "natural" use uniform`},
		{"train", map[string]any{"repeats": "by_queries", "ratio": "32:1"}, `repeats: by_queries applies only to ratio = "1:1"; with ratio = "32:1" use uniform`},
		{"train", map[string]any{"optimizer": "adamw", "weight_decay": 0.01, "beta1": 0.8, "beta2": 0.98, "epsilon": 1e-6, "schedule": "cosine", "accumulate": int64(4), "clip_norm": 1.0, "label_smoothing": 0.1, "patience": int64(3), "keep_state": true, "checkpoint_activations": true}, ""},
		{"train", map[string]any{"weight_decay": 0.01, "beta1": 0.8}, `weight_decay: applies only to optimizer = "adamw"; here optimizer is "adafactor"; beta1: applies only to optimizer = "adamw"; here optimizer is "adafactor"`},
		{"train", map[string]any{"optimizer": "adamw", "scale_parameter": false}, `scale_parameter: applies only to optimizer = "adafactor"; here optimizer is "adamw"`},
		{"train", map[string]any{"batch": int64(4), "accumulate": int64(5)}, "accumulate: a batch of 4 examples cannot be cut into 5 parts"},
		{"train", map[string]any{"learning_rate": math.Inf(1)}, "learning_rate: want number, got the number +Inf"},
		{"train", map[string]any{"ratio": "1:0"}, `ratio: indexing-to-retrieval ratio "1:0": it is "natural" or a:b with a ≥ 0 and b ≥ 1, such as "1:1", "32:1" or "0:1"`},
		{"train", map[string]any{"select": "loss"}, `select: metric "loss" is unknown; there are Hits@k, MRR, MRR@k, nDCG, nDCG@k, AP, AP@k, P@k, Recall@k, Rprec, IPrec@recall, RBP, RBP@k, ERR, ERR@k, Bpref, Judged, Judged@k, Invalid@k`},
		{"train", map[string]any{"select": "Invalid@40"}, "select: lower values of Invalid@40 are better; choose another, such as MRR@10 or Hits@1"},
		{"train", map[string]any{"device": "gpu"}, "device: must be auto, cpu, cuda or cuda:N"},
		{"train", map[string]any{"device": "cpu", "precision": "fp16"}, "precision: fp16 trains on a CUDA device only; use fp32 or bf16, or another device"},
		{"naive_ids", map[string]any{"budget": int64(0), "times": 0.5}, "times: want 1 or more: every document needs a number"},
		{"naive_ids", map[string]any{"times": 2.0}, "budget: give exactly one of budget and times"},
		{"compare", nil, ""},
		{"export_run", nil, `runs: "a b" is not a file name of one word; runs: "x y" is not a file name of one word`},
		{"random_t5", nil, ""},
		{"random_t5", map[string]any{"decoder_layers": int64(3), "feed_forward": "gated-gelu", "dropout": 0.0}, ""},
		{"random_t5", map[string]any{"family": "bart", "vocabulary": int64(50265)}, ""},
		{"random_t5", map[string]any{"family": "bart", "d_kv": int64(3), "feed_forward": "gated-gelu"}, "d_kv: for BART, heads x d_kv must be d_model; feed_forward: a BART has its own"},
	} {
		config := maps.Clone(whole[c.kind])
		maps.Copy(config, c.bad)
		_, err := kinds.Registry().Lookup(c.kind).Complete(config)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s %v:\n got %v\nwant %s", c.kind, c.bad, err, c.want)
		}
	}
}

// TestTrainKey: how a training is computed is not part of its key where its result is the
// same: nor is where, nor with how little memory.
func TestTrainKey(t *testing.T) {
	in := step.In(artifacts.Artifact{Type: "files", Digest: artifacts.Sum([]byte("x"))})
	key := func(more map[string]any) artifacts.Digest {
		t.Helper()
		config := map[string]any{"model": in, "ids": in, "corpus": in, "queries": in, "tokenizer": in}
		maps.Copy(config, more)
		reg := kinds.Registry()
		tree, err := reg.Lookup("train").Complete(config)
		errtest.None(t, err)
		_, k, _ := keyOf(t, reg, "train", tree)
		return k
	}
	plain := key(nil)
	for _, same := range []map[string]any{{"checkpoint_activations": true}, {"checkpoint_activations": false}, {"device": "cuda:1"}, {"checkpoint_every": int64(3)}} {
		if key(same) != plain {
			t.Errorf("%v moves the key", same)
		}
	}
	if key(map[string]any{"accumulate": int64(2)}) == plain {
		t.Error("accumulate, which rounds otherwise, does not move the key")
	}
}
