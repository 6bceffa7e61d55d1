//go:build linux

package cudagraph_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
	"github.com/redsi/redsi/internal/model/tensor/kernels"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestLibrary: the library that `make cuda` compiles is of this source, finds all its functions in libtorch's two halves
// and CUDA's runtime, and says without a card that there is none, as often as it is asked.
func TestLibrary(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "") // of NVIDIA's libraries only the names are there
	folder := os.Getenv("REDSI_CUDA_GRAPHS")
	if want := cudagraph.Name(tensor.Version()); filepath.Base(folder) != want {
		t.Fatalf("REDSI_CUDA_GRAPHS is %q, and the library for this source is in %s: `make test` installs it and sets it", folder, want)
	}
	library := filepath.Join(folder, cudagraph.File)
	// libtorch's CUDA half is not there yet.
	testkit.ErrSays(t, cudagraph.Open(library), "undefined symbol")
	if cudagraph.HasLibrary() {
		t.Error("a library that does not load is known")
	}
	if g, err := cudagraph.Begin(0, nil); err == nil || err.Error() != "no library knows how to record" {
		t.Errorf("%v, %v", g, err)
	}

	if err := kernels.Load(os.Getenv("REDSI_CUDA_KERNELS")); err != nil {
		t.Fatalf("%v: `make test` installs it and sets REDSI_CUDA_KERNELS", err)
	}
	if err := cudagraph.Open(library); err != nil || !cudagraph.HasLibrary() {
		t.Fatalf("%v, known: %v", err, cudagraph.HasLibrary())
	}
	for range 2 {
		g, err := cudagraph.Begin(0, nil)
		if err == nil || !strings.Contains(err.Error(), "NVIDIA driver") && !strings.Contains(err.Error(), "CUDA GPUs") {
			t.Errorf("without a card: %v", err)
		}
		if err != nil && strings.Contains(err.Error(), "frame #") {
			t.Errorf("libtorch's stack is shown: %v", err)
		}
		t.Log(err)
		g.Free()
		g.Free()
	}
}

// TestOpenFails: what is not a library, and one of something else, is an error that names the file.
func TestOpenFails(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.so")
	testkit.Write(t, other, "not a library")
	for path, want := range map[string]string{
		other:                                   "file too short",
		filepath.Join(t.TempDir(), "absent.so"): "cannot open shared object file",
		"libc.so.6":                             "it has no function redsi_graphs_1",
	} {
		if err := cudagraph.Open(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
