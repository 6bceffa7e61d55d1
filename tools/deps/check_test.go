package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// tools puts only the given programs on PATH: name -> what it prints.
func tools(t *testing.T, programs map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "sed", "awk"} {
		path := testkit.Value(exec.LookPath(name))(t)
		testkit.None(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	for name, prints := range programs {
		text := "#!/bin/sh\necho '" + prints + "'\n"
		testkit.Program(t, filepath.Join(dir, name), text)
	}
	t.Setenv("PATH", dir)
	t.Setenv("CXX", "")
}

func TestCheck(t *testing.T) {
	t.Setenv("GO_MIN", "1.21")
	t.Setenv("CARGO_MIN", "1.78")
	tests := []struct {
		name     string
		programs map[string]string
		ask      []string
		want     []string // lines that are printed, in this order; none: all is well
	}{
		{"all there", map[string]string{"go": "go1.99", "cargo": "cargo 1.95.0 (f2d3ce0bd 2026-03-21)"}, []string{"go", "cargo"}, nil},
		{"older than go.mod names, that one not to be had", map[string]string{"go": "go1.26.8'; test $1 != list #"}, []string{"go"},
			[]string{"redsi: go is version 1.26.8, which did not get version 1.", "GOPROXY", "https://go.dev/dl", "brew upgrade go"}},
		{"equal to the oldest", map[string]string{"go": "go1.21", "cargo": "cargo 1.78.0"}, []string{"go", "cargo"}, nil},
		{"too old, by number and not by letter", map[string]string{"go": "go1.9.7"}, []string{"go"},
			[]string{"redsi: go is version 1.9.7, and 1.21 or newer is needed", "sudo apt install golang-go", "brew install go"}},
		{"missing, all at once", nil, []string{"c++", "cargo", "pip"},
			[]string{"a C++ compiler is needed", "apt install g++", "xcode-select", "cargo is needed", "apt install cargo",
				"brew install rust", "pip is needed", "apt install python3-pip", "ensurepip"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := testkit.Value(filepath.Abs("check.sh"))(t)
			tools(t, tt.programs)
			out, err := exec.Command("sh", append([]string{script}, tt.ask...)...).CombinedOutput()
			if (err != nil) != (len(tt.want) > 0) {
				t.Errorf("error %v", err)
			}
			rest := string(out)
			for _, want := range tt.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is missing, or not in this order, in:\n%s", want, out)
				}
				rest = after
			}
			if len(tt.want) == 0 && rest != "" {
				t.Errorf("printed %q", rest)
			}
		})
	}
}

// makes is make in a clone.
func makes(clone string, args ...string) *exec.Cmd {
	cmd := exec.Command("make", append([]string{"--no-print-directory", "-C", clone}, args...)...)
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	return cmd
}

// The compiler flags must be the same in every clone, or gotch is compiled again.
func TestFlagsNameNoClone(t *testing.T) {
	clone := testkit.Value(filepath.Abs("../.."))(t)
	out, err := makes(clone, "env", "REDSI_DEPS=/parts").CombinedOutput()
	testkit.None(t, err, string(out))
	for _, key := range []string{"CGO_CFLAGS=-O2", "CGO_CXXFLAGS=-include /parts/", "CGO_LDFLAGS=-L/parts/", "REDSI_TEMPORAL_SERVER=/parts/", "REDSI_MINIO=/parts/"} {
		testkit.Says(t, string(out), "\n"+key)
	}
	if strings.Contains(string(out), clone) {
		t.Errorf("%s is named in:\n%s", clone, out)
	}
}

// `make cuda` is one line where there is no CUDA, before any tool is asked for, and one where all is installed.
func TestMakeCuda(t *testing.T) {
	values := testkit.Value(readVersions("../versions.mk"))(t)
	deps := t.TempDir()
	for _, dir := range []string{
		filepath.Join(deps, "libtorch", values["LIBTORCH_VERSION"]+"-linux-amd64"),
		filepath.Join(deps, "cuda", values["LIBTORCH_VERSION"]+"-linux-amd64"),
		filepath.Join(deps, "cuda-graphs", graphsName(t, values["LIBTORCH_VERSION"])),
	} {
		testkit.Write(t, filepath.Join(dir, doneFile), "")
	}
	for _, tt := range []struct {
		os, platform, want string
		fails              bool
	}{
		{"darwin", "darwin-arm64", "redsi: there is no CUDA for darwin-arm64: models compute on the processors\n", true},
		{"linux", "linux-amd64", "redsi: CUDA libraries are in " + filepath.Join(deps, "cuda", values["LIBTORCH_VERSION"]+"-linux-amd64") +
			"; bin/redsi-models takes them where there is a driver, from 580 on (redsi doctor)\n", false},
	} {
		out, err := makes("../..", "cuda", "OS="+tt.os, "PLATFORM="+tt.platform, "REDSI_DEPS="+deps).CombinedOutput()
		if got := strings.Join(slices.DeleteFunc(strings.SplitAfter(string(out), "\n"), func(l string) bool { return strings.HasPrefix(l, "make: ***") }), ""); got != tt.want {
			t.Errorf("%s: printed %q, want %q", tt.platform, got, tt.want)
		}
		if (err != nil) != tt.fails {
			t.Errorf("%s: error %v", tt.platform, err)
		}
	}
}

// Tools are named before anything starts: cargo, too, which says which crates a product has. `make doctor` is a script
// that the shell can read.
func TestMakeAsksFirst(t *testing.T) {
	for _, tt := range []struct{ target, tools string }{
		{"wheel", "c++ cargo go pip python3"},
		{"dist", "c++ cargo go pip python3"},
		{"wheel PLATFORMS=linux-arm64", "go"},
		{"doctor", "go c++ cargo python3 pip && echo 'all tools are there'"},
	} {
		out, err := makes("../..", append(strings.Fields(tt.target), "-n", "OS=linux", "PLATFORM=linux-amd64", "REDSI_DEPS=/parts")...).Output()
		testkit.None(t, err, tt.target)
		if _, tools, _ := strings.Cut(string(out), "tools/deps/check.sh "); !strings.HasPrefix(tools, tt.tools+"\n") {
			t.Errorf("make %s asks for %q, want %q", tt.target, strings.SplitN(tools, "\n", 2)[0], tt.tools)
		}
		shell := exec.Command("sh", "-n")
		shell.Stdin = strings.NewReader(string(out))
		out, err = shell.CombinedOutput()
		testkit.None(t, err, "make", tt.target, string(out))
	}
}
