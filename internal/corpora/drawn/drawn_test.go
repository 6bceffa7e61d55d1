package drawn

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// golden is what tools/golden/drawn.py writes.
type golden struct {
	Below       []int             `json:"below"`
	Sequences   string            `json:"sequences"`
	Identifiers string            `json:"identifiers"`
	After       int               `json:"after"`
	Batches     map[string]string `json:"batches"`
	Examples    string            `json:"examples"`
	Texts       string            `json:"texts"`
}

// TestDrawn: what is drawn here is what bench/peers/drawn.py draws.
func TestDrawn(t *testing.T) {
	var want golden
	goldens.JSON(t, "testdata/drawn.json", &want)
	d := Numbers(3)
	var got golden
	for range 4 {
		got.Below = append(got.Below, d.Below(32000))
	}
	got.Sequences = digest(t, d.Sequences(64, 8, 16))
	got.Identifiers = digest(t, d.Identifiers(1000))
	got.After = d.Below(1 << 30)
	got.Batches = map[string]string{}
	for _, lengths := range []string{"full", "real", "atomic"} {
		inputs, labels := Batch(lengths)
		got.Batches[lengths] = digest(t, [][][]int32{inputs, labels})
	}
	one, five := Numbers(1), Numbers(5)
	inputs, labels := one.Examples(300)
	got.Examples = digest(t, [][][]int32{inputs, labels})
	got.Texts = digest(t, five.Texts(7))
	testkit.Deep(t, got, want)
}

func digest(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	testkit.None(t, err)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
