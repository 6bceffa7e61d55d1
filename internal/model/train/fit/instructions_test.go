package fit

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/testkit"
)

// losses are those of a model's first updates, and what they were computed with.
type losses struct {
	Capability string
	SameBytes  bool
	Losses     []float64
}

const instructionsChild = "REDSI_TEST_INSTRUCTIONS_CHILD"

// TestInstructions trains a small model with AVX2 alone, in a child process, as on a
// processor without AVX-512: its losses are the losses of this process up to rounding.
func TestInstructions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("there are no such instructions here")
	}
	here := lossesOf(t)
	if os.Getenv(instructionsChild) != "" {
		testkit.None(t, json.NewEncoder(os.NewFile(3, "losses")).Encode(here))
		return
	}
	r, w, err := os.Pipe()
	testkit.None(t, err)
	defer r.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestInstructions$")
	cmd.Env = append(os.Environ(), instructionsChild+"=1", "ATEN_CPU_CAPABILITY=avx2")
	cmd.ExtraFiles = []*os.File{w}
	out, err := cmd.CombinedOutput()
	w.Close()
	testkit.None(t, err, out)
	var there losses
	testkit.None(t, json.NewDecoder(r).Decode(&there))
	if there.Capability != "AVX2" && there.Capability != here.Capability {
		t.Errorf("the child computed with %s", there.Capability)
	}
	if len(there.Losses) != len(here.Losses) {
		t.Fatalf("%v, %v", here, there)
	}
	if here.SameBytes && there.Capability == here.Capability && !slices.Equal(here.Losses, there.Losses) {
		t.Errorf("the same instructions, other bytes: %v, %v", here, there)
	}
	for i, x := range here.Losses {
		if y := there.Losses[i]; !(math.Abs(x-y) <= 1e-4*math.Abs(x)) {
			t.Errorf("update %d: a loss of %v with %s, of %v with %s", i, x, here.Capability, y, there.Capability)
		}
	}
}

func lossesOf(t *testing.T) losses {
	c := t5.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 500, 64, 16, 128, 1, 1, 4
	l := learnerWith(t, c)
	out := losses{Capability: tensor.CPUCapability(), SameBytes: tensor.SameForAnyThreads()}
	for i := range int64(4) {
		b := &train.Batch{}
		for n := range int32(16) {
			b.Inputs = append(b.Inputs, []int32{3 + n*7%490, 5 + n*13%490, 9 + int32(i)})
			b.Targets = append(b.Targets, []int32{7 + n, 1})
		}
		loss := testkit.Value(update(l, b, i, 1e-2))(t)
		out.Losses = append(out.Losses, loss.Value)
	}
	return out
}
