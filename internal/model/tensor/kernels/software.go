//go:build linux

package kernels

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
)

//go:embed testdata/cuda.c
var cuda []byte

// asked is the variable that names the file of what the runtime was asked for.
const asked = "REDSI_TEST_LOG"

// Software runs a test of this program in another process, whose CUDA runtime is of software
// (testdata/cuda.c), and returns what it says. The test calls Within.
func Software(t *testing.T, test string) (out string) {
	t.Helper()
	dir := t.TempDir()
	source, runtime, log := filepath.Join(dir, "cuda.c"), filepath.Join(dir, "libcuda.so.1"), filepath.Join(dir, "log")
	for path, text := range map[string][]byte{source: cuda, log: nil} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", runtime, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), "LD_PRELOAD="+runtime, asked+"="+log)
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return string(text)
}

// Within loads libtorch's own CUDA half and the library of graphs over that runtime, and returns what it
// is asked for. Elsewhere than in Software's process it is "", and does nothing.
func Within(t *testing.T) Asked {
	t.Helper()
	log := os.Getenv(asked)
	if log == "" {
		return ""
	}
	if err := Load(os.Getenv("REDSI_CUDA_KERNELS")); err != nil {
		t.Fatal(err)
	}
	if err := cudagraph.Open(filepath.Join(os.Getenv("REDSI_CUDA_GRAPHS"), cudagraph.File)); err != nil {
		t.Fatal(err)
	}
	return Asked(log)
}

// Asked is the file of what the runtime was asked for, a function a line.
type Asked string

// Since is what it was asked for since the last time.
func (a Asked) Since(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(string(a))
	if err == nil {
		err = os.Truncate(string(a), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}
