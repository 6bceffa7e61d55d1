package seq2seq

import (
	"encoding/json"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMarshalConfig: floats are floats to Python, whatever their value; what no field has is written as it was read.
func TestMarshalConfig(t *testing.T) {
	type fields struct {
		Dropout float64 `json:"dropout"`
		Factor  float64 `json:"factor"`
		Size    int64   `json:"size"`
	}
	got, err := MarshalConfig(struct {
		fields
		Type string `json:"model_type"`
	}{fields{0.1, 1, 8}, "x"}, map[string]json.RawMessage{"other": json.RawMessage("2.0"), "dtype": json.RawMessage(`"bfloat16"`)}, map[string]any{"old": true})
	testkit.None(t, err)
	const want = `{
  "dropout": 0.1,
  "dtype": "float32",
  "factor": 1.0,
  "model_type": "x",
  "old": true,
  "other": 2.0,
  "size": 8,
  "torch_dtype": "float32"
}`
	testkit.Is(t, string(got), want)
}
