package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// libtorchFiles says where a wheel's files go; others stay behind, as does what needs CUDA or Python of torch/lib,
// without which the CPU libraries load.
var libtorchFiles = []rule{
	{regexp.MustCompile(`^torch/(include/.*)$`), nil, "$1"},
	{regexp.MustCompile(`^torch/(lib/lib[^/]*\.(so[.0-9]*|dylib))$`), regexp.MustCompile(`cuda|nvrtc|nvshmem|python|libshm`), "$1"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE|License)(\.txt)?$`), nil, "licenses/$1/$2"},
	{regexp.MustCompile(`^nvidia/.*/(lib/(libcupti|libcudart)\.so[.0-9]*)$`), nil, "$1"},
}

// libtorch fills DIR/include, DIR/lib and DIR/licenses from the wheels that the versions file lists for the platform.
func (o options) libtorch(ctx context.Context, p partPlace, show *progress) error {
	wheels, err := o.wheels("WHEELS_")
	if err != nil {
		return err
	}
	return unpackWheels(ctx, p, show, wheels, libtorchFiles, o.keep)
}

var programFiles = []rule{
	{regexp.MustCompile(`^[^/]*\.data/scripts/(uv|weed)$`), nil, "$1"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/licenses/(LICENSE[-A-Z]*)$`), nil, "licenses/$1/$2"},
}

// program fills DIR with a program that a wheel holds, for tests.
func (o options) program(name, wheelsOf string) builder {
	return func(ctx context.Context, p partPlace, show *progress) error {
		wheels, err := o.wheels(wheelsOf)
		if err != nil {
			return err
		}
		if err := unpackWheels(ctx, p, show, wheels, programFiles, ""); err != nil {
			return err
		}
		return os.Chmod(filepath.Join(p.new, name), 0o755)
	}
}

// graphsLibrary is the library's name; internal/model/tensor/cudagraph has the same.
const graphsLibrary = "libredsi_graphs.so"

// cudaHeaders takes the headers of NVIDIA's wheels.
var cudaHeaders = []rule{
	{regexp.MustCompile(`^nvidia/[^/]+/(include/.*\.(?:h|hpp|inl))$`), nil, "$1"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE|License)(\.txt)?$`), nil, "licenses/$1/$2"},
}

// cudaGraphs fills DIR with redsi's library that records and replays CUDA graphs, compiled against libtorch's headers
// and CUDA's, which do not stay; DIR/licenses has their licences.
func (o options) cudaGraphs(ctx context.Context, p partPlace, show *progress) error {
	torch := o.dirs["libtorch"]
	if torch == "" {
		return errors.New("it is compiled against libtorch: give libtorch=DIR too")
	}
	wheels, err := o.wheels("HEADERS_")
	if err != nil {
		return err
	}
	own, err := o.wheels("WHEELS_")
	if err != nil {
		return err
	}
	// The runtime's headers are in the wheel of which libtorch's part takes the library.
	wheels = append(wheels, slices.DeleteFunc(own, func(w wheel) bool { return w.distribution != "nvidia-cuda-runtime" })...)
	if err := unpackWheels(ctx, p, show, wheels, cudaHeaders, ""); err != nil {
		return err
	}
	include := filepath.Join(p.new, "include")
	cmd := exec.Command("c++", "-std=c++20", "-O1", "-w", "-fPIC", "-shared", "-s", "-Wl,-soname,"+graphsLibrary,
		"-I", o.graphs, "-I", filepath.Join(torch, "include"), "-I", include,
		"-o", filepath.Join(p.new, graphsLibrary), filepath.Join(o.graphs, "library", "graph.cc"))
	if err := runShown(ctx, p, show, "compiling", cmd, nil); err != nil {
		return err
	}
	return os.RemoveAll(include)
}
