//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// kernelsPart is the folder of the part cuda-kernels.
func kernelsPart(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REDSI_CUDA_KERNELS")
	if !complete(dir) {
		t.Fatalf("REDSI_CUDA_KERNELS names no part (%q): run `make test`, which installs it and sets it", dir)
	}
	return dir
}

var pin = regexp.MustCompile(`(?m)^Requires-Dist: (nvidia-[a-z0-9-]+)==([0-9.]+?)(?:\.\*)?;`)

// The wheels of NVIDIA are those that torch asks for, and the set of versions that it names.
func TestCudaPins(t *testing.T) {
	dir := kernelsPart(t)
	values := testkit.Value(readVersions("../versions.mk"))(t)
	toolkit := testkit.Value(wheelsFor(values, "TOOLKIT"))(t)
	torch := testkit.Text(t, filepath.Join(dir, "metadata", "torch-"+values["LIBTORCH_VERSION"]))
	want := "]==" + toolkit[0].version + ";"
	testkit.Says(t, torch, "Requires-Dist: cuda-toolkit[", want)
	asked := map[string]string{}
	for _, text := range []string{torch, testkit.Text(t, filepath.Join(dir, "metadata", "cuda_toolkit-"+toolkit[0].version))} {
		for _, m := range pin.FindAllStringSubmatch(text, -1) {
			asked[m[1]] = m[2]
		}
	}
	for _, list := range []string{"CUDA_linux-amd64", "WHEELS_linux-amd64", "HEADERS_linux-amd64"} {
		wheels := testkit.Value(wheelsFor(values, list))(t)
		for _, w := range wheels {
			if w.distribution != "torch" && asked[w.distribution] != w.version {
				t.Errorf("%s has %s %s, torch asks for %q", list, w.distribution, w.version, asked[w.distribution])
			}
		}
	}
}

// Every library that libtorch's CUDA half names is taken from a wheel that is listed: what cuda-kernels has an empty
// one for is what no wheel of libtorch's has.
func TestCudaNeeds(t *testing.T) {
	dir := kernelsPart(t)
	values := testkit.Value(readVersions("../versions.mk"))(t)
	wheels := testkit.Value(wheelsFor(values, "CUDA_linux-amd64"))(t)
	needed := strings.Fields(list(t, filepath.Join(dir, "nvidia", "cu13", "lib")))
	if len(needed) < 10 {
		t.Fatalf("only %q", needed)
	}
	for _, name := range needed {
		if _, ok := nvidiaFiles[0].target("nvidia/cu13/lib/" + name); !ok {
			t.Errorf("%s is not unpacked", name)
		}
		found := false
		for _, w := range wheels {
			short := regexp.MustCompile(`^nvidia-(cuda-)?|-cu13$`).ReplaceAllString(w.distribution, "")
			found = found || strings.HasPrefix(strings.ToLower(name), "lib"+short)
		}
		if !found {
			t.Errorf("no wheel of CUDA_linux-amd64 has %s", name)
		}
	}
	unmet, err := unmetLibraries(dir)
	testkit.That(t, err == nil && len(unmet) <= 0, "nobody has", unmet, err)
}
