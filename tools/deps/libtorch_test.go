package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// makeWheel returns a zip archive of files that hold their own names.
func makeWheel(t *testing.T, names ...string) []byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range names {
		files[name] = []byte(name)
	}
	return zipOf(t, files)
}

// zipOf returns a zip archive of files.
func zipOf(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var archive bytes.Buffer
	out := zip.NewWriter(&archive)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		entry := testkit.Value(out.Create(name))(t)
		testkit.None(t, testkit.Err(entry.Write(files[name])))
	}
	testkit.None(t, out.Close())
	return archive.Bytes()
}

const (
	torchWheel = "torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl"
	cudaWheel  = "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.whl"
)

// index stands for pip's: a folder of wheels, and a `python3` in front of PATH that copies from it what is asked for
// (as fetch.py does: the beginning of the file may be there already) and counts its calls.
type index struct {
	dir      string
	versions string
}

func newIndex(t *testing.T, served, pinned map[string][]byte) index {
	t.Helper()
	return newIndexOf(t, map[string][]string{"WHEELS_linux-amd64": {torchWheel, cudaWheel}}, served, pinned)
}

// newIndexOf serves wheels that the versions file lists in several variables.
func newIndexOf(t *testing.T, lists map[string][]string, served, pinned map[string][]byte) index {
	t.Helper()
	dir := t.TempDir()
	list := ""
	for _, variable := range slices.Sorted(maps.Keys(lists)) {
		list += "\n" + variable + " ="
		for _, name := range lists[variable] {
			testkit.Write(t, filepath.Join(dir, name), served[name])
			list += fmt.Sprintf(" \\\n  %x:%s", sha256.Sum256(pinned[name]), name)
		}
	}
	script := `#!/bin/sh
# python3 -c SCRIPT DISTRIBUTION VERSION WHEEL PART -- ...
echo "$4" >> "` + dir + `/calls"
test -s "` + dir + `/$5" || { echo "no such wheel: $5" >&2; exit 1; }
have=0
test -e "$6" && have=$(wc -c < "$6")
tail -c +$((have + 1)) "` + dir + `/$5" >> "$6"
echo "bytes 1 2"
`
	testkit.Program(t, filepath.Join(dir, "python3"), script)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	versions := filepath.Join(dir, "versions.mk")
	testkit.Write(t, versions, list+"\n")
	return index{dir: dir, versions: versions}
}

func (x index) calls() int { return len(x.asked()) }

// asked are the wheels that were asked for, in this order.
func (x index) asked() []string {
	text, _ := os.ReadFile(filepath.Join(x.dir, "calls"))
	return strings.Fields(string(text))
}

func TestLibtorch(t *testing.T) {
	good := map[string][]byte{
		torchWheel: makeWheel(t, "torch/include/ATen/ATen.h", "torch/lib/libtorch_cpu.so", "torch/lib/libgomp.so.1",
			"torch/lib/libtorch_cuda.so", "torch/lib/libtorch_python.so", "torch/lib/libshm/alloc_info.h", "torch/nn/modules.py"),
		cudaWheel: makeWheel(t, "nvidia/cu13/lib/libcudart.so.13", "nvidia/cu13/lib/libother.so", "nvidia/cu13/include/cuda.h"),
	}
	changed := map[string][]byte{torchWheel: append([]byte("x"), good[torchWheel]...), cudaWheel: good[cudaWheel]}
	empty := map[string][]byte{torchWheel: makeWheel(t, "torch/version.py"), cudaWheel: good[cudaWheel]}
	half := good[torchWheel][:100]

	tests := []struct {
		name           string
		served, pinned map[string][]byte
		downloaded     map[string][]byte // in the downloads folder before
		calls          int
		shown          string
		err            string
	}{
		{"from nothing", good, good, nil, 2, "downloading " + torchWheel, ""},
		{"continued", good, good, map[string][]byte{torchWheel + ".part": half}, 2, "continuing at 0.0 MB", ""},
		{"continued, but the beginning is another file's", good, good,
			map[string][]byte{torchWheel + ".part": bytes.Repeat([]byte("y"), 100)}, 3, "dropped and downloaded whole", ""},
		{"one file there already", good, good, map[string][]byte{torchWheel: good[torchWheel]}, 1, "was downloaded before", ""},
		{"a damaged file there already", good, good, map[string][]byte{torchWheel: half}, 2, "is downloaded again", ""},
		{"not the pinned file", changed, good, nil, 1, "", "is not the pinned file"},
		{"not in the index", map[string][]byte{}, good, nil, 1, "", "no such wheel: " + torchWheel},
		{"nothing to unpack", empty, empty, nil, 1, "", "holds none of the files"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newIndex(t, tt.served, tt.pinned)
			deps := t.TempDir()
			downloads := filepath.Join(deps, "downloads")
			testkit.None(t, os.MkdirAll(downloads, 0o755))
			for name, text := range tt.downloaded {
				testkit.Write(t, filepath.Join(downloads, name), text)
			}
			dir := filepath.Join(deps, "libtorch", "2.11.0-linux-amd64")
			out, err := x.run(t, "libtorch="+dir)
			wantError(t, err, tt.err)
			testkit.Says(t, out, tt.shown)
			testkit.Is(t, x.calls(), tt.calls, "downloads")
			if tt.err != "" {
				if complete(dir) {
					t.Error("the part counts as installed")
				}
				return
			}
			testkit.Is(t, list(t, filepath.Join(dir, "lib")), "libcudart.so.13 libgomp.so.1 libtorch_cpu.so")
			testkit.Is(t, testkit.Text(t, filepath.Join(dir, "include", "ATen", "ATen.h")), "torch/include/ATen/ATen.h")
			testkit.Is(t, list(t, downloads), "", "left in downloads")
		})
	}
}

func TestUnpackRefusesPathsOutside(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "a.whl")
	testkit.Write(t, archive, makeWheel(t, "torch/include/../../../evil.h"))
	// The reader may refuse such a name by itself; either way nothing is written.
	testkit.Some(t, testkit.Err(unpack(t.Context(), archive, filepath.Join(dir, "to"), libtorchFiles)))
	testkit.Is(t, list(t, dir), "a.whl", "the folder holds")
}

// A folder of wheels is an index too, to pip itself.
func TestFolderOfWheels(t *testing.T) {
	if err := exec.Command("python3", "-m", "pip", "--version").Run(); err != nil {
		t.Skip("there is no pip here")
	}
	const name = "tiny-1.0-py3-none-any.whl"
	dir := t.TempDir()
	data := zipOf(t, map[string][]byte{
		"tiny.py":                     nil,
		"tiny-1.0.dist-info/METADATA": []byte("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"),
		"tiny-1.0.dist-info/WHEEL":    []byte("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
		"tiny-1.0.dist-info/RECORD":   []byte("tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n"),
	})
	testkit.Write(t, filepath.Join(dir, name), data)
	t.Setenv("PIP_FIND_LINKS", dir)
	t.Setenv("PIP_NO_INDEX", "1")
	w := testkit.Value(parseWheel(fmt.Sprintf("%x:%s", sha256.Sum256(data), name)))(t)
	var out strings.Builder
	testkit.None(t, testkit.Err(w.fetch(t.Context(), partPlace{downloads: t.TempDir()}, newBoard(&out).part("tiny"))), &out)
}
