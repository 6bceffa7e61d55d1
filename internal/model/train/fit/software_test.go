//go:build linux

package fit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/kernels"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/model/train"
)

// TestRecordsForCUDA runs TestRecordsWithin in a process whose CUDA runtime is of software.
func TestRecordsForCUDA(t *testing.T) {
	if out := kernels.Software(t, "TestRecordsWithin"); !strings.Contains(out, "it was recorded") {
		t.Fatal(out)
	}
}

// TestRecordsWithin: libtorch's own CUDA half makes updates and records them: nothing that it does for one of them
// waits, copies to the host or from it, or takes memory in a way that CUDA does not record. Its kernels do nothing.
// They are nearly as many as tensor.Count says of a CPU that is taken for a card.
func TestRecordsWithin(t *testing.T) {
	runtime := kernels.Within(t)
	if runtime == "" {
		return // it is TestRecordsForCUDA that calls it
	}
	for _, c := range []struct {
		compute   tensor.DType
		optimizer string
	}{{tensor.F32, ""}, {tensor.BF16, ""}, {tensor.F16, ""}, {tensor.BF16, "adamw"}} {
		l := learnerAt(t, toy(), tensor.CUDA(0), c.compute, c.optimizer)
		l.ClipNorm = 1
		lossesFrom(t, l, 0, 60)
		r := l.Recorded()
		if r.Failed != nil || r.Graphs == 0 || r.Replays == 0 {
			t.Errorf("%v %s: %+v", c.compute, c.optimizer, r)
			continue
		}
		counted := func() int64 {
			defer tensor.Emulate()()
			return secondUpdate(t, c.compute, c.optimizer)
		}()
		read := func() []byte {
			text := runtime.Since(t)
			if bytes.Contains(text, []byte("done while it records\n")) {
				t.Errorf("%v %s: work was done beside a recording, which no replay would do", c.compute, c.optimizer)
			}
			return text
		}
		read()
		secondUpdate(t, c.compute, c.optimizer)
		text := read()
		_, text, _ = bytes.Cut(text, []byte("\nbegin\n")) // it is recorded then
		text, _, _ = bytes.Cut(text, []byte("\nend\n"))
		asked := bytes.Count(text, []byte("recorded\n")) + bytes.Count(text, []byte("gemm\n"))
		if ratio := float64(counted) / float64(asked); ratio < 0.85 || ratio > 1.02 {
			t.Errorf("%v %s: %d launches are counted, and libtorch asked for %d", c.compute, c.optimizer, counted, asked)
		}
		t.Logf("%v %s: it was recorded: %+v; %d launches in an update, counted as %d", c.compute, c.optimizer, r, asked, counted)
	}
}

// secondUpdate makes two updates of equal shapes, and counts the launches of the second.
func secondUpdate(t *testing.T, compute tensor.DType, optimizer string) (launches int64) {
	t.Helper()
	l := learnerAt(t, toy(), tensor.CUDA(0), compute, optimizer)
	l.ClipNorm = 1
	lossesFrom(t, l, 0, 1)
	data := examples(30, 50)
	sampler, err := train.NewSampler(data, train.Natural, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	tensortest.Run(t, func(*tensor.Scope) {
		launches = tensor.Count(func() { err = l.Step(t.Context(), train.NewBatch(data, sampler.Batch(0)), 1, 1e-3) }).Launches
	})
	if err != nil {
		t.Fatal(err)
	}
	return launches
}
