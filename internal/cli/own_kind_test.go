package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/filetest"
)

// TestOwnKind builds examples/own-kind, a module of its own, against this tree, and has it
// do what redsi does, with a kind that this tree does not have.
func TestOwnKind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	errtest.None(t, os.CopyFS(filepath.Join(dir, "own"), os.DirFS(example("own-kind"))))
	program := filepath.Join(dir, "own-redsi")
	for path, pkg := range map[string]string{program: ".", filepath.Join(dir, compute.Name): "./models"} {
		build := exec.Command("go", "build", "-ldflags=-w", "-o", path, pkg)
		build.Dir = example("own-kind")
		if path == program {
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	own := func(code int, want string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = filepath.Join(dir, "own")
		cmd.Env = append(os.Environ(), compute.Variable+"=") // what lies beside it
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) {
			t.Errorf("%v: exit %d instead of %d, or no %q:\n%s", args, got, code, want, out)
		}
	}
	file := func(name string) string { return filepath.Join(dir, "own", name) }
	own(fault.CodeOK, "artifact of type files, required", "kinds", "word_count")
	own(fault.CodeOK, "is valid", "validate")
	own(fault.CodeOK, "6 steps: 0 hit, 6 ran", "run")
	own(fault.CodeOK, "6 steps: 6 hit", "plan", "--detailed-exitcode")
	own(fault.CodeOK, "12 results", "verify")

	// Another file: the one that stayed is not counted again.
	filetest.Write(t, file("letters/second.txt"), "It has words\nto be counted again.\n")
	own(fault.CodeOK, "all.words: paper 12, rebuilt 13", "run")
	own(fault.CodeOK, "21 results", "verify") // 12 before; a download, its one file, two counts with one file each, a longest word, two tables

	b, err := os.ReadFile(file("pipelines.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, file("pipelines.hcl"), strings.Replace(string(b), "letters  =", "leters   =", 1))
	own(fault.CodeInput, `Did you mean "letters"?`, "validate")
}
