//go:build linux && !notorch

package train

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/tensor/cudagraph"
	"github.com/redsi/redsi/internal/tensor/kernels"
)

// TestRecordsForCUDA runs TestRecordsWithin in a process whose CUDA runtime is of software.
func TestRecordsForCUDA(t *testing.T) {
	dir := t.TempDir()
	runtime, log := filepath.Join(dir, "libcuda.so.1"), filepath.Join(dir, "log")
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", runtime, "../tensor/cudagraph/testdata/cuda.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRecordsWithin$", "-test.v")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+runtime, "REDSI_TEST_LOG="+log)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "it was recorded") {
		t.Fatalf("%v\n%s", err, out)
	}
	asked, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(asked), "recorded\n") || strings.Contains(string(asked), "while it records") {
		t.Errorf("%v; what no replay would do was asked for beside the recording, or nothing was recorded", err)
	}
}

// TestRecordsWithin: libtorch's own CUDA half makes updates and records them: nothing that it does for one of them
// waits, copies to the host or from it, or takes memory in a way that CUDA does not record. Its kernels do nothing.
func TestRecordsWithin(t *testing.T) {
	if os.Getenv("REDSI_TEST_LOG") == "" {
		return // it is TestRecordsForCUDA that calls it
	}
	if err := kernels.Load(os.Getenv("REDSI_CUDA_KERNELS")); err != nil {
		t.Fatal(err)
	}
	if err := cudagraph.Open(filepath.Join(os.Getenv("REDSI_CUDA_GRAPHS"), cudagraph.File)); err != nil {
		t.Fatal(err)
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
		t.Logf("%v %s: it was recorded: %+v", c.compute, c.optimizer, r)
	}
}
