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

// cudaHalf are the files of the torch wheel that both this part and kernels have.
var cudaHalf = []rule{
	{regexp.MustCompile(`^torch/lib/lib(torch_cuda|torch_cuda_linalg|torch_nvshmem|c10_cuda|caffe2_nvrtc)\.so$`), nil, "$0"},
	{regexp.MustCompile(`^(torch-[^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE)(\.txt)?$`), nil, "licenses/$1/$2"},
}

// nvidiaFiles are those of NVIDIA's wheels: what libtorch's half names, what that names, and what cuDNN and NVRTC open
// themselves. Variants, tools, headers and what other languages are for stay behind.
var nvidiaFiles = []rule{
	{regexp.MustCompile(`^nvidia/[^/]+/lib/lib(cublas|cublasLt|cudnn[a-z_]*|cufft|cufile|curand|cusolver|cusparse|cusparseLt|nccl|nvshmem_host|nvJitLink|nvrtc|nvrtc-builtins)\.so[.0-9]*$`), nil, "$0"},
	{regexp.MustCompile(`^([^/]*)\.dist-info/(?:licenses/)?(LICENSE|NOTICE|License)(\.txt)?$`), nil, "licenses/$1/$2"},
}

// cuda fills DIR as Python's site-packages has it, because the libraries look for each other there: DIR/torch/lib has
// libtorch's CUDA half, DIR/nvidia/*/lib what it needs of NVIDIA's. DIR/versions names them; DIR/licenses has their
// licences. What runs on a CPU already, libtorch_cpu, c10, cudart and cupti, is libtorch's part.
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

// cudaKernels fills DIR with libtorch's CUDA half and, for each library of NVIDIA's that it names, an empty one of that
// name: enough to load it and to ask which operators it has, not to run one. It is for tests, which so need a wheel
// that is downloaded for libtorch anyway, in place of 2 GB more. DIR/metadata says which versions torch asks for.
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

// takeHalf puts libtorch's CUDA half into p.new: links to what the other part has of the same version, or the wheel's
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

// linkFiles makes files of from, and those below its folders, appear in to: one file of two names, or a copy where the
// file system has no such thing.
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

// unmetLibraries are those that a library below dir names and that are neither there nor thereAlready: name -> who
// names it.
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

// makeEmpty makes shared libraries with nothing in them. A library that names them loads, since its functions are
// looked for when they are called.
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
