package general

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

// hashes answers for files of this machine.
type hashes struct{ step.NoSources }

func (hashes) Program(name string) (string, error) { return command.Find(name) }

func (hashes) LocalFile(_ context.Context, path string) (step.Pin, error) {
	text, err := os.ReadFile(path)
	return step.Pin{Source: path, SHA256: artifacts.Sum(text)}, err
}

// TestProgramElsewhere: a program of an environment is the same in another folder, for the plan and
// for the worker that starts it; the file's own digest may be given, too.
func TestProgramElsewhere(t *testing.T) {
	made := func() string {
		dir := t.TempDir()
		for name, text := range map[string]string{"pyvenv.cfg": "home = /usr/bin\n", "bin/python3": "\x7fELF", "bin/tool": "#!" + dir + "/bin/python3\nimport tool\n"} {
			if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			filetest.Program(t, filepath.Join(dir, name), text)
		}
		return filepath.Join(dir, "bin")
	}
	here, there := made(), made()
	c := commandConfig{Argv: []string{"tool"}, Programs: []string{"tool"}, programConfig: programDefaults}
	resolved := func(bin string, c commandConfig) (commandConfig, error) {
		t.Setenv("PATH", bin)
		return resolveCommand(t.Context(), hashes{}, c)
	}
	one, err := resolved(here, c)
	two, err2 := resolved(there, c)
	if err != nil || err2 != nil || one.Program != two.Program || one.ProgramDigests["tool"] != two.Program {
		t.Fatalf("%v %v: %s %q, %s", err, err2, one.Program, one.ProgramDigests, two.Program)
	}
	if _, err := one.programOf(t.Context(), "tool", one.Program); err != nil { // PATH has the other
		t.Error(err)
	}
	file, err := hashes{}.LocalFile(t.Context(), filepath.Join(there, "tool"))
	errtest.None(t, err)
	c.Program = file.SHA256.Hex()
	if given, err := resolved(there, c); err != nil || given.Program != c.Program {
		t.Errorf("%v, %s, not the digest that was given", err, given.Program)
	} else if _, err := given.programOf(t.Context(), "tool", given.Program); err != nil {
		t.Error(err)
	}
	errtest.Says(t, errtest.Of(resolved(here, c)), " has the digest ")
	c.Program = ""
	pyenv := t.TempDir()
	shim, version := filepath.Join(pyenv, "shims", "tool"), filepath.Join(pyenv, "versions", "3.11.7", "bin")
	if err := errors.Join(os.MkdirAll(filepath.Dir(shim), 0o755), os.MkdirAll(filepath.Dir(version), 0o755), os.Symlink(here, version),
		os.WriteFile(filepath.Join(pyenv, "version"), []byte("3.11.7\n"), 0o644),
		os.WriteFile(shim, []byte("#!/bin/sh\nexport PYENV_ROOT="+pyenv+"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if stands, err := resolved(filepath.Dir(shim), c); err != nil || stands.Program != one.Program {
		t.Errorf("%v, a stand-in counts as %s, not as what it starts", err, stands.Program)
	} else if p, err := stands.programOf(t.Context(), "tool", stands.Program); err != nil || p.path != shim {
		t.Errorf("%v, it starts %s", err, p.path)
	}
	c.ProgramLibraries = false
	if bare, err := resolved(there, c); err != nil || bare.Program != file.SHA256.Hex() {
		t.Errorf("%v, %s: without packages the file counts as it is", err, bare.Program)
	}
}
