package main

import (
	"context"
	"debug/elf"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// cudaHalf takes the files of the torch wheel that the parts cuda and cuda-kernels share.
var cudaHalf = []rule{
	{regexp.MustCompile(`^torch/lib/lib(torch_cuda|torch_cuda_linalg|torch_nvshmem|c10_cuda|caffe2_nvrtc)\.so$`), nil, "$0"},
	{regexp.MustCompile(`^(torch-[^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE)(\.txt)?$`), nil, "licenses/$1/$2"},
}

// nvidiaFiles takes from NVIDIA's wheels the libraries that libtorch's half names, one through another, and those that
// cuDNN and NVRTC open. Variants, tools, headers and files for other languages stay behind.
var nvidiaFiles = []rule{
	{regexp.MustCompile(`^nvidia/[^/]+/lib/lib(cublas|cublasLt|cudnn[a-z_]*|cufft|cufile|curand|cusolver|cusparse|cusparseLt|nccl|nvshmem_host|nvJitLink|nvrtc|nvrtc-builtins)\.so[.0-9]*$`), nil, "$0"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE|License)(\.txt)?$`), nil, "licenses/$1/$2"},
}

// cuda fills DIR as Python's site-packages, where the libraries look for each other: DIR/torch/lib has libtorch's CUDA
// half, DIR/nvidia/*/lib NVIDIA's libraries for it. DIR/versions names them; DIR/licenses has their licences. What a
// CPU needs too, libtorch_cpu, c10, cudart and cupti, is in libtorch's part.
func (o options) cuda(ctx context.Context, p partPlace, show *progress) error {
	wheels, err := o.wheels("CUDA_")
	if err != nil {
		return err
	}
	torch, err := o.takeHalf(ctx, p, show, "cuda-kernels")
	if err != nil {
		return err
	}
	if err := unpackWheels(ctx, p, show, wheels, nvidiaFiles, ""); err != nil {
		return err
	}
	unmet, err := unmetLibraries(p.new)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(unmet)) {
		return fmt.Errorf("%s needs %s, which no wheel of CUDA_%s in %s has", unmet[name], name, o.platform, o.versions)
	}
	var text strings.Builder
	for _, w := range append([]wheel{torch}, wheels...) {
		fmt.Fprintf(&text, "%s %s\n", w.distribution, w.version)
	}
	return os.WriteFile(filepath.Join(p.new, "versions"), []byte(text.String()), 0o644)
}

var metadataFiles = []rule{{regexp.MustCompile(`^([^/]*)\.dist-info/METADATA$`), nil, "metadata/$1"}}

// cudaKernels fills DIR with libtorch's CUDA half and an empty library for each of NVIDIA's that it names: enough to
// load it and to ask which operators it has, not to run one. Tests need only this, from a wheel that is downloaded for
// libtorch anyway, rather than 2 GB more. DIR/metadata says which versions torch asks for.
func (o options) cudaKernels(ctx context.Context, p partPlace, show *progress) error {
	toolkit, err := o.wheels("TOOLKIT")
	if err != nil {
		return err
	}
	if _, err := o.takeHalf(ctx, p, show, "cuda"); err != nil {
		return err
	}
	if err := unpackWheels(ctx, p, show, toolkit, metadataFiles, ""); err != nil {
		return err
	}
	unmet, err := unmetLibraries(p.new)
	if err != nil {
		return err
	}
	return show.during("making empty libraries", func() error {
		return makeEmpty(ctx, filepath.Join(p.new, "nvidia", "cu13", "lib"), slices.Sorted(maps.Keys(unmet)))
	})
}

// takeHalf puts libtorch's CUDA half into p.new: links to the other part's files of the same version, or the wheel's
// files. It returns the wheel.
func (o options) takeHalf(ctx context.Context, p partPlace, show *progress, other string) (wheel, error) {
	wheels, err := o.wheels("WHEELS_")
	if err != nil {
		return wheel{}, err
	}
	torch := wheels[0]
	from := p.sibling(other)
	if complete(from) {
		show.line("libtorch's CUDA half is taken from %s", from)
		name := "torch-" + torch.version
		return torch, linkFiles(from, p.new, "torch", filepath.Join("licenses", name), filepath.Join("metadata", name))
	}
	return torch, unpackWheels(ctx, p, show, []wheel{torch}, append(slices.Clone(cudaHalf), metadataFiles...), "")
}

// linkFiles links the named files of from, and all files below named folders, into to; it copies them where the file
// system has no links.
func linkFiles(from, to string, names ...string) error {
	for _, name := range names {
		err := eachFile(filepath.Join(from, name), filepath.Join(to, name), func(path, target string) error {
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			if os.Link(path, target) == nil {
				return nil
			}
			return copyFile(path, target)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// thereAlready are libraries that are loaded before libtorch's CUDA half, or that a Linux with a desktop or a compiler
// has: libtorch's own part, the C library's, the compiler's, zlib.
var thereAlready = regexp.MustCompile(`^(lib(torch_cpu|c10|gomp|cudart|cupti|c|m|dl|rt|pthread|gcc_s|stdc\+\+|util|z)\.so(\.[0-9]+)?|ld-linux.*|libcuda\.so\.1)$`)

// unmetLibraries returns the libraries that libraries below dir name, and that are neither there nor thereAlready:
// name -> who names it.
func unmetLibraries(dir string) (map[string]string, error) {
	have, need := map[string]bool{}, map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.Contains(entry.Name(), ".so") {
			return err
		}
		file, err := elf.Open(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer file.Close()
		names, err := file.ImportedLibraries()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		have[entry.Name()] = true
		for _, name := range names {
			need[name] = entry.Name()
		}
		return nil
	})
	maps.DeleteFunc(need, func(name, _ string) bool { return have[name] || thereAlready.MatchString(name) })
	return need, err
}

// makeEmpty builds empty shared libraries. A library that names them loads, since functions are looked for only when
// they are called.
func makeEmpty(ctx context.Context, dir string, names []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		cmd := exec.CommandContext(ctx, "c++", "-shared", "-nostdlib", "-Wl,-soname,"+name, "-o", filepath.Join(dir, name), "-x", "c", os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, out)
		}
	}
	return nil
}
