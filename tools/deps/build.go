package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// stubLibraries are the libraries in gotch's link flags that the CPU build does not have or, as libtorch itself, which
// pulls in CUDA, must not load. An empty archive first on the link path stands for each.
var stubLibraries = []string{
	"torch", "torch_cuda", "c10_cuda", "caffe2_nvrtc", "cuda", "cudart", "cublas", "cudnn", "nvrtc",
	"nvrtc-builtins", "nvToolsExt",
}

// emptyArchive is an ar archive without members.
const emptyArchive = "!<arch>\n"

// quickSpecs has g++ append options. -O1: gotch's one file only hands arguments on to libtorch: with its own -O3 a
// training step takes as long, but compiling the file half as long again. C++20, in place of its own C++17, is what
// libtorch's headers need from 2.14 on.
const quickSpecs = "*cc1plus:\n+ -O1 -std=c++20\n"

// gotch fills DIR with the header that is forced into gotch's sources, the compiler's specs, and DIR/stubs. They are
// files there so that compiler flags, which Go's build cache keys on, name no clone.
func (o options) gotch(_ context.Context, p partPlace, _ *progress) error {
	stubs := filepath.Join(p.new, "stubs")
	err := errors.Join(copyFile(o.header, filepath.Join(p.new, filepath.Base(o.header))),
		os.WriteFile(filepath.Join(p.new, "quick.specs"), []byte(quickSpecs), 0o644), os.Mkdir(stubs, 0o755))
	for _, name := range stubLibraries {
		err = errors.Join(err, os.WriteFile(filepath.Join(stubs, "lib"+name+".a"), []byte(emptyArchive), 0o644))
	}
	return err
}

// tokenizersModule is the Go module whose folder is also the crate of libtokenizers.a.
const tokenizersModule = "github.com/daulet/tokenizers"

// rarelyRun are crates in libtokenizers.a that redsi's tokenizers run only when they are read, or never: tiktoken's,
// bars on terminals, and regular expressions, for which byte-level BPE has another crate. With little optimization
// they compile in half the time.
var rarelyRun = []string{"tiktoken-rs", "fancy-regex", "bstr", "indicatif", "console", "nom", "regex", "regex-automata", "regex-syntax"}

// tokenizers builds libtokenizers.a from a copy of the module's folder: the module cache is read-only.
func tokenizers(ctx context.Context, p partPlace, show *progress) error {
	var source string
	err := show.during("downloading its sources", func() (err error) {
		source, err = moduleDir(ctx, tokenizersModule)
		return err
	})
	if err != nil {
		return err
	}
	crate := filepath.Join(p.new, "crate")
	for _, name := range []string{"Cargo.toml", "Cargo.lock"} {
		if err := copyFile(filepath.Join(source, name), filepath.Join(crate, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"src", "benches"} { // the manifest names a bench, which must then exist
		if err := eachFile(filepath.Join(source, name), filepath.Join(crate, name), copyFile); err != nil {
			return err
		}
	}
	args := []string{"build", "--release", "--locked"}
	for _, crate := range rarelyRun {
		args = append(args, "--config", "profile.release.package."+crate+".opt-level=1")
	}
	cmd := exec.Command("cargo", args...)
	cmd.Dir = crate
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+filepath.Join(crate, "target"))
	if err := runShown(ctx, p, show, "compiling", cmd, nil); err != nil {
		return err
	}
	built := filepath.Join(crate, "target", "release", "libtokenizers.a")
	if err := os.Rename(built, filepath.Join(p.new, "libtokenizers.a")); err != nil {
		return err
	}
	return os.RemoveAll(crate)
}

// server builds a program of another Go module, so that its dependencies are not redsi's. It is built as redsi is, to
// share Go's library and modules of equal versions in Go's build cache. It needs no C, so it can be built for another
// platform.
func (o options) server(moduleDir, pkg string) builder {
	return func(ctx context.Context, p partPlace, show *progress) error {
		system, processor, _ := strings.Cut(o.platform, "-")
		args := []string{"build", "-v", "-ldflags", "-s -w", "-o", filepath.Join(p.new, path.Base(pkg))}
		if system == "darwin" {
			args = append(args, "-tags=") // GOFLAGS has tags for Linux: macOS looks up names and users by its own library
		}
		cmd := exec.Command("go", append(args, pkg)...)
		cmd.Dir = moduleDir
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
		return runShown(ctx, p, show, "compiling", cmd, nil)
	}
}

// moduleDir is the folder of one of redsi's modules in the module cache, fetched when it is not there yet.
func moduleDir(ctx context.Context, module string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module).Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); jsonErr != nil || found.Error != "" || found.Dir == "" {
		return "", fmt.Errorf("go mod download %s: %s (%v)", module, found.Error, err)
	}
	return found.Dir, nil
}

// eachFile calls do for each regular file below from, with its place below to.
func eachFile(from, to string, do func(from, to string) error) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return do(path, filepath.Join(to, name))
	})
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
