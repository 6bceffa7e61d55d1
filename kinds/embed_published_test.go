package kinds_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// TestPublishedEncoder compares embed with transformers on an encoder of this machine, if
// there is one: tools/golden/encoder.py says how.
func TestPublishedEncoder(t *testing.T) {
	folder, golden := os.Getenv("REDSI_ENCODER"), os.Getenv("REDSI_ENCODER_GOLDEN")
	if folder == "" || golden == "" {
		t.Skip("REDSI_ENCODER and REDSI_ENCODER_GOLDEN are not set")
	}
	var texts []string
	var want [][]float64
	for name, v := range map[string]any{"texts.json": &texts, "vectors.json": &want} {
		errtest.None(t, json.Unmarshal(readFile(t, filepath.Join(golden, name)), v))
	}
	l := newLocal(t)
	model, err := l.do("import_model", map[string]any{"files": []any{l.tree("files", folderOf(t, folder, ""))}})
	errtest.None(t, err)
	res, err := l.do("embed", map[string]any{"title": false, "corpus": l.corpusOf(texts), "model": step.In(model.Outputs["model"]),
		"tokenizer": []any{step.In(model.Outputs["tokenizer"])}, "pooling": "mean", "normalize": true, "max_tokens": int64(128), "device": "cpu"})
	errtest.None(t, err)
	got, worst := l.vectors(res), 0.0
	for i, row := range want {
		for j, v := range row {
			worst = max(worst, math.Abs(v-float64(got.Data[i*got.Cols+j])))
		}
	}
	t.Logf("%d texts, %d numbers each: max |diff| %.2g; counts %v", len(want), got.Cols, worst, res.Counts)
	if !(worst <= 1e-5) {
		t.Errorf("max |diff| %g", worst)
	}
}
