//go:build linux && amd64

package kinds_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/model/tensor/kernels"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestOperators: the operators of libtorch that steps call on a card, of which a test of internal/model/tensor/kernels
// asks whether CUDA has kernels. A new one changes the golden.
func TestOperators(t *testing.T) {
	const withCard = "REDSI_TEST_CARD"
	if os.Getenv(withCard) == "" { // a process of its own: other tests have no card
		c := exec.Command(os.Args[0], "-test.run=^TestOperators$")
		if *goldens.Update {
			c.Args = append(c.Args, "-update")
		}
		c.Env = append(os.Environ(), withCard+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	testkit.None(t, fakecard.Install())
	l := newLocal(t)
	t5 := newTrainingOf(t, l, fewerTokens(t, 1000), map[string]any{"vocabulary": int64(1024)})
	bart := newBARTTraining(t, l)
	bert := l.tree("files", tinyBERT(t))
	texts, tokenizer := l.corpusOf([]string{"a text", "another one . longer than it", ""}), l.bertTokenizer()
	got := kernels.Log(func() {
		do := func(kind string, config map[string]any) step.Input {
			t.Helper()
			res := l.made(kind, config)
			return step.In(res.Outputs["model"])
		}
		few := map[string]any{"device": "cuda", "steps": int64(2), "evaluate_every": int64(2), "dropout": 0.1, "beams": int64(4)}
		for _, family := range []*training{t5, bart} {
			for i, change := range []map[string]any{
				{"clip_norm": 1.0, "label_smoothing": 0.1, "accumulate": int64(2)},
				{"validity": "text", "optimizer": "adamw", "weight_decay": 0.01, "precision": "bf16"},
				{"ids": family.set(family.ids(docid.KindAtomic)), "precision": "fp16", "clip_norm": 1.0},
				{"ids": family.set(family.ids(docid.KindSemantic)), "precision": "fp16", "optimizer": "adamw"},
			} {
				config := family.with(change, few)
				model := do("train", config)
				if i == 1 || family == bart { // its training has evaluated it, by the same search
					continue
				}
				asks := map[string]any{"model": model, "ids": config["ids"], "queries": config["queries"], "tokenizer": config["tokenizer"], "device": "cuda", "beams": int64(4)}
				for _, decoding := range []string{"constrained", "unconstrained"} {
					asks["decoding"] = decoding
					testkit.None(t, testkit.Err(l.inParts("evaluate", asks)))
				}
			}
		}
		config := t5.config
		writer := do("train_queries", map[string]any{"model": config["model"], "corpus": config["corpus"], "queries": config["queries"],
			"tokenizer": config["tokenizer"], "device": "cuda", "steps": int64(2), "batch": int64(16), "evaluate_every": int64(2), "max_input": int64(16)})
		generation := t5.generation(writer)
		generation["device"] = "cuda"
		for _, method := range []string{"sample", "beam"} {
			generation["method"] = method
			testkit.None(t, testkit.Err(l.inParts("generate_queries", generation)))
		}
		for _, pooling := range []string{"cls", "mean"} {
			testkit.None(t, testkit.Err(l.do("embed", map[string]any{"title": false, "corpus": texts, "model": bert, "tokenizer": tokenizer, "pooling": pooling,
				"max_tokens": int64(24), "device": "cuda"})))
		}
	})
	text := strings.Join(got, "\n") + "\n"
	if want := goldens.Of(t, filepath.Join("testdata", "operators.golden"), text); text != want {
		t.Errorf("the operators are others: look at internal/model/tensor/kernels after -update\n%s", cmp.Diff(want, text))
	}
}
