package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"go/build"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// must ends a test that has met an error, perhaps of a program that has written something.
func must(t *testing.T, err error, said ...[]byte) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// says fails a test whose error lacks a text.
func says(t *testing.T, err error, text string, about ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Error(append(about, "error", err, "want", text)...)
	}
}

// tree is a small clone: what python/ needs, and a program of Go without cgo that stands for redsi and the server.
func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("python/pyproject.toml", `[project]
name = "redsi"
description = "d"
requires-python = ">=3.9"
dependencies = ["zstandard>=0.20"]
classifiers = ["Typing :: Typed"]
dynamic = ["version"]
[project.optional-dependencies]
pandas = ["pandas>=1.5"]
`)
	write("python/redsi/__init__.py", "\"\"\"d\"\"\"\n__version__ = \"1.2.3\"\n")
	write("python/redsi/__pycache__/x.pyc", "left by Python")
	write("python/redsi/mine.txt", "not in git")
	write("python/redsi/py.typed", "")
	write("README.md", "# r\n[docs](docs/a.md#b) ![p](docs/p.png) [web](https://example.org) [here](#r)\n")
	write("LICENSE", "ours")
	write(articles, "theirs")
	write("go.mod", "module example.org/m\n\ngo 1.26\n")
	write("main.go", "package main\n\nfunc main() {}\n")
	write("tools/temporal-server/go.mod", "module example.org/s\n\ngo 1.26\n")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", "program", ".")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.CombinedOutput()
	must(t, err, out)
	for _, args := range [][]string{{"init", "-q"}, {"add", "python/pyproject.toml", "python/redsi/*.py", "python/redsi/py.typed", "README.md", "LICENSE", articles}} {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput()
		must(t, err, out)
	}
	return root
}

// makeRedsi makes the wheel redsi of a tree.
func makeRedsi(t *testing.T, root, out string) error {
	t.Helper()
	t.Chdir(root)
	return run([]string{"-make", "redsi", "-redsi", "program", "-server", "program", "-version", "1.2.3", "-commit", "abc", "-platform", "linux-amd64",
		"-time", "1700000000", "-out", out})
}

const wheelName = "redsi-1.2.3-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.musllinux_1_1_x86_64.whl"

// TestWheel: what is said of a wheel and what is in it, and two clones in other folders make the same bytes.
func TestWheel(t *testing.T) {
	out, again := t.TempDir(), t.TempDir()
	root := tree(t)
	other := filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.CopyFS(other, os.DirFS(root)))
	must(t, os.Chmod(filepath.Join(other, "LICENSE"), 0o600)) // another umask
	must(t, makeRedsi(t, root, out))
	must(t, makeRedsi(t, other, again))
	wheel, err := os.ReadFile(filepath.Join(out, wheelName))
	must(t, err)
	if twice, err := os.ReadFile(filepath.Join(again, wheelName)); err != nil || !bytes.Equal(wheel, twice) {
		t.Errorf("two clones make different wheels (%v)", err)
	}
	z, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	must(t, err)
	files := map[string]string{}
	var order []string
	for _, f := range z.File {
		in, err := f.Open()
		must(t, err)
		data, err := io.ReadAll(in)
		must(t, err)
		files[f.Name] = string(data)
		order = append(order, f.Name)
		if want := strings.Contains(f.Name, "/scripts/"); want != (f.Mode()&0o111 != 0) || !f.Modified.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%s: mode %v, time %v", f.Name, f.Mode(), f.Modified)
		}
	}
	const info = "redsi-1.2.3.dist-info/"
	if last := order[len(order)-1]; last != info+"RECORD" {
		t.Errorf("the last file is %s", last)
	}
	for _, name := range []string{"redsi/__init__.py", "redsi/py.typed", "redsi-1.2.3.data/scripts/redsi", "redsi-1.2.3.data/scripts/redsi-temporal-server",
		info + "licenses/LICENSE", info + "licenses/articles/ATTRIBUTION.md", info + "sboms/redsi.cdx.json", info + "METADATA", info + "WHEEL"} {
		if _, ok := files[name]; !ok {
			t.Errorf("there is no %s in %q", name, order)
		}
	}
	if slices.ContainsFunc(order, func(name string) bool { return strings.Contains(name, "__pycache__") || strings.Contains(name, "mine") }) {
		t.Errorf("it has what git does not: %q", order)
	}
	lines, err := csv.NewReader(strings.NewReader(files[info+"RECORD"])).ReadAll()
	if err != nil || len(lines) != len(files) {
		t.Fatalf("RECORD has %d lines for %d files (%v)", len(lines), len(files), err)
	}
	for _, line := range lines {
		data, ok := files[line[0]]
		sum := sha256.Sum256([]byte(data))
		if want := "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]); line[0] != info+"RECORD" && (!ok || line[1] != want || line[2] != fmt.Sprint(len(data))) {
			t.Errorf("RECORD says %q, the file has %s", line, want)
		}
	}
	head, description, _ := strings.Cut(files[info+"METADATA"], "\n\n")
	for _, want := range []string{"Metadata-Version: 2.4", "Name: redsi", "Version: 1.2.3", "Requires-Python: >=3.9", "Requires-Dist: zstandard>=0.20", "Classifier: Typing :: Typed",
		"Provides-Extra: models", `Requires-Dist: redsi-models==1.2.3; extra == "models"`, `Requires-Dist: pandas>=1.5; extra == "pandas"`,
		"License-Expression: Apache-2.0 AND BSD-3-Clause AND CC-BY-SA-3.0", "License-File: LICENSE", "License-File: articles/ATTRIBUTION.md", "Description-Content-Type: text/markdown"} {
		if !slices.Contains(strings.Split(head, "\n"), want) {
			t.Errorf("METADATA lacks %q:\n%s", want, head)
		}
	}
	if want := "# r\n[docs](" + home + "/blob/v1.2.3/docs/a.md#b) ![p](" + home + "/raw/v1.2.3/docs/p.png) [web](https://example.org) [here](#r)\n"; description != want {
		t.Errorf("the description is %q, want %q", description, want)
	}
	if !strings.Contains(files[info+"sboms/redsi.cdx.json"], "pkg:golang/std@"+strings.TrimPrefix(goVersion(t), "go")) {
		t.Errorf("the bill of materials lacks Go:\n%s", files[info+"sboms/redsi.cdx.json"])
	}
	// What it is made of has to be there, and nothing is left of a wheel that fails.
	says(t, run([]string{"-make", "redsi", "-redsi", "program", "-version", "1.2.3", "-platform", "linux-amd64"}), "no such file")
	must(t, os.Remove(filepath.Join(root, "LICENSE")))
	failed := t.TempDir()
	says(t, makeRedsi(t, root, failed), "LICENSE")
	if left, err := os.ReadDir(failed); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

func goVersion(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOVERSION").Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

// TestTags: the loosest tags that programs allow.
func TestTags(t *testing.T) {
	for _, tt := range []struct {
		needs needs
		want  string // the tags, or what an error has
	}{
		{needs{machine: elf.EM_X86_64}, "manylinux1_x86_64 manylinux_2_5_x86_64 musllinux_1_1_x86_64"},
		{needs{machine: elf.EM_AARCH64}, "manylinux2014_aarch64 manylinux_2_17_aarch64 musllinux_1_1_aarch64"},
		{needs{machine: elf.EM_X86_64, dynamic: true, glibc: 34, glibcxx: 29, cxxabi: 13}, "manylinux_2_34_x86_64"},
		{needs{machine: elf.EM_X86_64, dynamic: true, glibc: 17, glibcxx: 20, cxxabi: 7}, "manylinux_2_24_x86_64"}, // libstdc++ decides
		{needs{machine: elf.EM_X86_64, dynamic: true, glibc: 28, cxxabi: 12}, "manylinux_2_31_x86_64"},
		{needs{machine: elf.EM_X86_64, dynamic: true, glibc: 99}, "newer than any manylinux"},
		{needs{machine: elf.EM_RISCV, dynamic: true}, "no wheels are made for EM_RISCV"},
	} {
		tags, err := tt.needs.tags()
		if got := strings.Join(tags, " "); got != tt.want {
			says(t, err, tt.want, tt.needs, got)
		}
	}
}

// static is the header of an ELF file, which loads nothing, and mac that of a program for a macOS.
func static(machine elf.Machine) []byte {
	var b bytes.Buffer
	h := elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Ehsize: 64, Phentsize: 56, Shentsize: 64}
	_ = binary.Write(&b, binary.LittleEndian, h) // to memory
	return b.Bytes()
}

func mac(oldest uint32) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, []uint32{macho.Magic64, uint32(macho.CpuArm64), 0, uint32(macho.TypeExec), 1, 24, 0, 0,
		0x32, 24, 1, oldest, 0, 0})
	return b.Bytes()
}

// written is a program in a folder of its own.
func written(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, data, 0o755))
	return path
}

// TestTagsOfFiles reads them of programs.
func TestTagsOfFiles(t *testing.T) {
	for _, tt := range []struct {
		platform string
		a, b     []byte
		want     string // the tags, or what the error has
	}{
		{"linux-arm64", static(elf.EM_AARCH64), static(elf.EM_AARCH64), "manylinux2014_aarch64 manylinux_2_17_aarch64 musllinux_1_1_aarch64"},
		{"darwin-arm64", mac(0x0c0300), mac(0x0b0000), "macosx_13_0_arm64"}, // the younger decides; from 11 on, installers know no minor one
		{"linux-arm64", static(elf.EM_AARCH64), static(elf.EM_X86_64), "another program of the wheel for"},
		{"linux-arm64", static(elf.EM_AARCH64), mac(0x0c0000), "b: bad magic number"},
		{"darwin-arm64", static(elf.EM_AARCH64), mac(0x0c0000), "a: invalid magic number"},
	} {
		tags, err := tags(tt.platform, []string{written(t, "a", tt.a), written(t, "b", tt.b)})
		if got := strings.Join(tags, " "); got != tt.want {
			says(t, err, tt.want, got)
		}
	}
	// What the C compiler links for this system is not static.
	compiler, err := exec.LookPath("cc")
	if err != nil || build.Default.GOOS != "linux" {
		t.Skip("there is no C compiler for Linux here")
	}
	dynamic := filepath.Join(t.TempDir(), "dynamic")
	cmd := exec.Command(compiler, "-x", "c", "-o", dynamic, "-")
	cmd.Stdin = strings.NewReader("int main(void) { return 0; }\n")
	out, err := cmd.CombinedOutput()
	must(t, err, out)
	if tags, err := tags("linux-amd64", []string{dynamic}); err != nil || len(tags) == 0 || strings.Contains(strings.Join(tags, " "), "musllinux") {
		t.Errorf("a program that loads the C library: %q (%v)", tags, err)
	}
}

// TestRelease: the changelog, what CITATION.cff cites and the Python package are of one release. Between
// two the package is ahead, and says so.
func TestRelease(t *testing.T) {
	root := filepath.Join("..", "..")
	first := func(name, pattern string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		must(t, err)
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has nothing like %s", name, pattern)
		}
		return string(m[1])
	}
	changelog := first("CHANGELOG.md", `(?m)^## ([0-9]+\.[0-9]+\.[0-9]+), [0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	cited := first("CITATION.cff", `(?m)^version: ([0-9.]+)$`)
	if cited != changelog {
		t.Errorf("the newest release is %s in CHANGELOG.md, %s in CITATION.cff", changelog, cited)
	}
	version := first("python/redsi/__init__.py", `(?m)^__version__ = "([^"]+)"$`)
	if version != changelog && (!strings.HasSuffix(version, ".dev0") || strings.HasPrefix(version, changelog+".")) {
		t.Errorf("python/redsi/__init__.py has %s: neither the newest release, %s, nor the next one with .dev0", version, changelog)
	}
}
