package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

const (
	cublasWheel  = "nvidia_cublas-13.1.0.3-py3-none-manylinux_2_27_x86_64.whl"
	toolkitWheel = "cuda_toolkit-13.0.2-py2.py3-none-any.whl"
)

// library compiles an empty shared library that names others.
func library(t *testing.T, dir, name string, needs ...string) []byte {
	t.Helper()
	path := filepath.Join(dir, name)
	args := []string{"-shared", "-nostdlib", "-Wl,--no-as-needed", "-Wl,-soname," + name, "-o", path, "-x", "c", os.DevNull, "-x", "none"}
	for _, need := range needs {
		if _, err := os.Stat(filepath.Join(dir, need)); err != nil {
			library(t, dir, need)
		}
		args = append(args, filepath.Join(dir, need))
	}
	out, err := exec.Command("c++", args...).CombinedOutput()
	testkit.None(t, err, string(out))
	return goldens.Text(t, path)
}

// cudaIndex serves wheels like those of torch and of NVIDIA, of which libtorch_cuda names one library more than need be.
func cudaIndex(t *testing.T, more ...string) index {
	t.Helper()
	made := t.TempDir()
	files := map[string][]byte{
		torchWheel: zipOf(t, map[string][]byte{
			"torch/lib/libtorch_cpu.so":              library(t, made, "libtorch_cpu.so"),
			"torch/lib/libtorch_cuda.so":             library(t, made, "libtorch_cuda.so", append(more, "libc10_cuda.so", "libtorch_cpu.so", "libcublas.so.13", "libcudart.so.13")...),
			"torch/lib/libc10_cuda.so":               library(t, made, "libc10_cuda.so"),
			"torch/lib/libtorch_python.so":           []byte("not taken"),
			"torch/include/ATen/ATen.h":              []byte("a header"),
			"torch-2.11.0.dist-info/METADATA":        []byte("Requires-Dist: cuda-toolkit==13.0.2"),
			"torch-2.11.0.dist-info/licenses/NOTICE": []byte("a notice"),
		}),
		cudaWheel: makeWheel(t, "nvidia/cu13/lib/libcudart.so.13"),
		cublasWheel: zipOf(t, map[string][]byte{
			"nvidia/cu13/lib/libcublas.so.13":                       library(t, made, "libcublas.so.13", "libcublasLt.so.13"),
			"nvidia/cu13/lib/libcublasLt.so.13":                     library(t, made, "libcublasLt.so.13"),
			"nvidia/cu13/lib/libnvblas.so.13":                       []byte("not taken"),
			"nvidia/cu13/include/cublas.h":                          []byte("not taken"),
			"nvidia_cublas-13.1.0.3.dist-info/licenses/License.txt": []byte("a licence"),
		}),
		toolkitWheel: zipOf(t, map[string][]byte{"cuda_toolkit-13.0.2.dist-info/METADATA": []byte("Requires-Dist: nvidia-cublas==13.1.0.3.*")}),
	}
	return newIndexOf(t, map[string][]string{"WHEELS_linux-amd64": {torchWheel, cudaWheel}, "CUDA_linux-amd64": {cublasWheel}, "TOOLKIT": {toolkitWheel}}, files, files)
}

// install runs the installer for parts below deps.
func (x index) install(t *testing.T, deps string, parts ...string) (string, error) {
	t.Helper()
	var args []string
	for _, part := range parts {
		args = append(args, part+"="+filepath.Join(deps, part, "2.11.0-linux-amd64"))
	}
	return x.run(t, args...)
}

// run runs the installer with more arguments.
func (x index) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"-versions", x.versions, "-platform", "linux-amd64"}, args...), &out)
	return out.String(), err
}

// tree lists the files below a folder.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	testkit.None(t, err)
	return names
}

// Whatever the order in which the parts are installed, each wheel is downloaded once for those that are installed
// together, libtorch's half is never downloaded for the second of its parts, and nothing is left of the downloads.
func TestCudaOrders(t *testing.T) {
	whole := []string{"done", "licenses/nvidia_cublas-13.1.0.3/License", "licenses/torch-2.11.0/NOTICE", "metadata/torch-2.11.0",
		"nvidia/cu13/lib/libcublas.so.13", "nvidia/cu13/lib/libcublasLt.so.13", "torch/lib/libc10_cuda.so", "torch/lib/libtorch_cuda.so", "versions"}
	empty := []string{"done", "licenses/torch-2.11.0/NOTICE", "metadata/cuda_toolkit-13.0.2", "metadata/torch-2.11.0",
		"nvidia/cu13/lib/libcublas.so.13", "torch/lib/libc10_cuda.so", "torch/lib/libtorch_cuda.so"}
	tests := []struct {
		name  string
		steps []string // each a run of the installer, with the parts it is asked for
		asked string   // the wheels' versions that pip was asked for
	}{
		{"all at once", []string{"libtorch cuda-kernels cuda"}, "2.11.0 13.0.96 13.0.2 13.1.0.3"},
		{"for tests, then for a card", []string{"libtorch cuda-kernels", "libtorch cuda"}, "2.11.0 13.0.96 13.0.2 13.1.0.3"},
		{"for a card, then for tests", []string{"libtorch cuda", "libtorch cuda-kernels"}, "2.11.0 13.0.96 13.1.0.3 13.0.2"},
		{"libtorch was there", []string{"libtorch", "cuda", "cuda"}, "2.11.0 13.0.96 2.11.0 13.1.0.3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, deps := cudaIndex(t), t.TempDir()
			for _, parts := range tt.steps {
				out, err := x.install(t, deps, strings.Fields(parts)...)
				testkit.None(t, err, parts, out)
			}
			testkit.Is(t, strings.Join(x.asked(), " "), tt.asked, "downloaded")
			all := strings.Join(tt.steps, " ") + " "
			for part, want := range map[string][]string{"cuda": whole, "cuda-kernels": empty} {
				if strings.Contains(all, part+" ") {
					testkit.Deep(t, tree(t, filepath.Join(deps, part, "2.11.0-linux-amd64")), want, part)
				}
			}
			testkit.Is(t, list(t, filepath.Join(deps, "downloads")), "", "left in downloads")
			testkit.Is(t, testkit.Text(t, filepath.Join(deps, "libtorch", "2.11.0-linux-amd64", "include", "ATen", "ATen.h")), "a header")
		})
	}
}

// What is installed is told beforehand, with its size and time; a second run says and does nothing.
func TestCudaSaysWhatItTakes(t *testing.T) {
	x, deps := cudaIndex(t), t.TempDir()
	out := testkit.Value(x.install(t, deps, "cuda"))(t)
	testkit.Says(t, out, "redsi: installing cuda\n", "into "+deps+", for all clones: 3.0 GB\n", "2.5 GB of downloads; about ",
		"at 10 MB a second the downloads take about 4 min", "cuda: ready in ")
	testkit.Is(t, testkit.Text(t, filepath.Join(deps, "cuda", "2.11.0-linux-amd64", "versions")), "torch 2.11.0\nnvidia-cublas 13.1.0.3\n")
	before := x.calls()
	if out, err := x.install(t, deps, "cuda"); err != nil || out != "" || x.calls() != before {
		t.Errorf("the second time: error %v, %d downloads, printed %q", err, x.calls()-before, out)
	}
	out = testkit.Value(x.install(t, deps, "cuda-kernels"))(t)
	testkit.Says(t, out, "for all clones: 0.0 MB\n", "0.0 MB of downloads")
}

// A library that no wheel has is found when the part is made, not when a card is used.
func TestCudaIncomplete(t *testing.T) {
	x, deps := cudaIndex(t, "libnew.so.1"), t.TempDir()
	testkit.ErrSays(t, testkit.Err(x.install(t, deps, "cuda")), "libtorch_cuda.so needs libnew.so.1, which no wheel of CUDA_linux-amd64 in ")
	testkit.Is(t, list(t, filepath.Join(deps, "cuda")), ".2.11.0-linux-amd64.lock", "left behind")
	testkit.None(t, testkit.Err(x.install(t, deps, "cuda-kernels")), "the part that has empty ones of whatever is named")
	for _, platform := range []string{"darwin-arm64", "plan9-mips"} {
		err := run(t.Context(), []string{"-versions", "../versions.mk", "-platform", platform, "cuda=" + filepath.Join(deps, "c", "1")}, &bytes.Buffer{})
		testkit.ErrSays(t, err, "no wheels are listed: add CUDA_"+platform)
	}
}

// The two platforms have the same libraries in the same versions.
func TestCudaPlatformsAgree(t *testing.T) {
	values := testkit.Value(readVersions("../versions.mk"))(t)
	var lists [2][]string
	for i, platform := range []string{"linux-amd64", "linux-arm64"} {
		for _, list := range []string{"CUDA_", "HEADERS_"} {
			wheels := testkit.Value(wheelsFor(values, list+platform))(t)
			for _, w := range wheels {
				lists[i] = append(lists[i], w.distribution+" "+w.version)
			}
		}
	}
	testkit.Deep(t, lists[0], lists[1])
}

// Two makes that install parts of the same wheel do not write one file together.
func TestCudaBesideLibtorch(t *testing.T) {
	x, deps := cudaIndex(t), t.TempDir()
	var group sync.WaitGroup
	for _, part := range []string{"libtorch", "cuda", "cuda-kernels"} {
		group.Go(func() {
			if out, err := x.install(t, deps, part); err != nil {
				t.Errorf("%s: %v\n%s", part, err, out)
			}
		})
	}
	group.Wait()
	testkit.Is(t, list(t, filepath.Join(deps, "downloads")), "", "left in downloads")
}
