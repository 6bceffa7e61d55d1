package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// graphsName is the folder that the Makefile gives cuda-graphs on linux-amd64.
func graphsName(t *testing.T, version string) string {
	t.Helper()
	source := "../../internal/model/tensor/cudagraph/"
	sum := sha256.Sum256([]byte(testkit.Text(t, source+"library/graph.cc") + testkit.Text(t, source+"table.h")))
	return fmt.Sprintf("%s-%x-linux-amd64", version, sum[:6])
}

const crtWheel = "nvidia_cuda_crt-13.0.88-py3-none-manylinux2014_x86_64.whl"

// graphsIndex serves headers, and source is a folder with a library that needs those of libtorch and of both wheels.
func graphsIndex(t *testing.T) (x index, source string) {
	t.Helper()
	files := map[string][]byte{
		torchWheel: zipOf(t, map[string][]byte{"torch/include/ATen/ATen.h": []byte("#define FROM_TORCH 1\n"), "torch/lib/libtorch_cpu.so": nil}),
		cudaWheel: zipOf(t, map[string][]byte{
			"nvidia/cu13/lib/libcudart.so.13":                            []byte("a library"),
			"nvidia/cu13/include/cuda_runtime_api.h":                     []byte("#include <crt/host_config.h>\n"),
			"nvidia_cuda_runtime-13.0.96.dist-info/licenses/License.txt": []byte("a licence"),
		}),
		crtWheel: zipOf(t, map[string][]byte{
			"nvidia/cu13/include/crt/host_config.h":                  []byte("#define FROM_CRT 2\n"),
			"nvidia_cuda_crt-13.0.88.dist-info/licenses/License.txt": []byte("another"),
		}),
	}
	source = t.TempDir()
	for name, text := range map[string]string{
		"table.h":          "#define FROM_TABLE 3\n",
		"library/graph.cc": "#include \"table.h\"\n#include <ATen/ATen.h>\n#include <cuda_runtime_api.h>\nint of[] = {FROM_TORCH, FROM_CRT, FROM_TABLE};\n",
	} {
		testkit.Write(t, filepath.Join(source, name), text)
	}
	return newIndexOf(t, map[string][]string{"WHEELS_linux-amd64": {torchWheel, cudaWheel}, "HEADERS_linux-amd64": {crtWheel}}, files, files), source
}

// The library is compiled of the source that is named, against what libtorch's part and the wheels of headers have, which
// then do not stay.
func TestGraphs(t *testing.T) {
	x, source := graphsIndex(t)
	deps := t.TempDir()
	dir := filepath.Join(deps, "cuda-graphs", "2.11.0-0123-linux-amd64")
	args := []string{"-graphs", source, "cuda-graphs=" + dir}
	testkit.ErrSays(t, testkit.Err(x.run(t, args...)), "cuda-graphs: it is compiled against libtorch: give libtorch=DIR too")
	args = append(args, "libtorch="+filepath.Join(deps, "libtorch", "2.11.0-linux-amd64"))
	out, err := x.run(t, args...)
	testkit.None(t, err, out)
	testkit.Says(t, out, "redsi: installing libtorch and cuda-graphs\n", "cuda-graphs: ready in ")
	want := []string{"done", graphsLibrary, "licenses/nvidia_cuda_crt-13.0.88/License", "licenses/nvidia_cuda_runtime-13.0.96/License"}
	testkit.Deep(t, tree(t, dir), want, "it holds")
	testkit.Is(t, list(t, filepath.Join(deps, "downloads")), "", "left in downloads")
	before := x.calls()
	if out, err := x.run(t, args...); err != nil || out != "" || x.calls() != before {
		t.Errorf("the second time: error %v, %d downloads, printed %q", err, x.calls()-before, out)
	}

	// A source that does not compile is told with the compiler's words, and leaves nothing.
	testkit.Write(t, filepath.Join(source, "library", "graph.cc"), "int of = NO_SUCH_NAME;\n")
	args[2] = "cuda-graphs=" + filepath.Join(deps, "cuda-graphs", "2.11.0-4567-linux-amd64")
	testkit.ErrSays(t, testkit.Err(x.run(t, args...)), "NO_SUCH_NAME")
	if got := list(t, filepath.Join(deps, "cuda-graphs")); strings.Contains(strings.ReplaceAll(got, ".2.11.0-4567-linux-amd64.lock", ""), "4567") {
		t.Errorf("left behind: %s", got)
	}
}

// What records on a card has no part where there is no CUDA.
func TestGraphsElsewhere(t *testing.T) {
	deps := t.TempDir()
	torch := filepath.Join(deps, "libtorch", "1")
	testkit.Write(t, filepath.Join(torch, doneFile), "")
	err := run(t.Context(), []string{"-versions", "../versions.mk", "-platform", "darwin-arm64", "libtorch=" + torch, "cuda-graphs=" + filepath.Join(deps, "g", "1")}, &bytes.Buffer{})
	testkit.ErrSays(t, err, "no wheels are listed: add HEADERS_darwin-arm64")
}
