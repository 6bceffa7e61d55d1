package general

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestWithoutSecrets: what decides about a retry is left of an error whose text is not.
func TestWithoutSecrets(t *testing.T) {
	hidden := secret.Set{"TOKEN": "planted-value"}
	told := func(cause error) error { return fmt.Errorf("planted-value in a path: %w", cause) }
	var changed *step.SourceChangedError
	var bad *artifacts.IntegrityError
	for what, c := range map[string]struct {
		err error
		is  func(error) bool
	}{
		"plain":     {told(errors.New("x")), func(err error) bool { return !step.IsPermanent(err) }},
		"permanent": {step.Permanent(told(errors.New("x"))), step.IsPermanent},
		"changed": {told(&step.SourceChangedError{Path: "/planted-value/p", Err: errors.New("of planted-value")}),
			func(err error) bool { return errors.As(err, &changed) && changed.Path != "/planted-value/p" }},
		"damaged":   {told(&artifacts.IntegrityError{}), func(err error) bool { return errors.As(err, &bad) }},
		"full disk": {&fs.PathError{Op: "open", Path: "/planted-value", Err: syscall.ENOSPC}, func(err error) bool { return errors.Is(err, syscall.ENOSPC) }},
		"joined":    {errors.Join(told(artifacts.ErrNotExist), errors.New("y")), func(err error) bool { return errors.Is(err, artifacts.ErrNotExist) }},
	} {
		got := withoutSecrets(c.err, hidden)
		for err := got; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), "planted") {
				t.Errorf("%s: a cause says %v", what, err)
			}
		}
		if !c.is(got) {
			t.Errorf("%s: became %v", what, got)
		}
	}
}

// TestCarriageReturns: a script that would fail by the line ends of Windows is refused by a message
// that names them.
func TestCarriageReturns(t *testing.T) {
	const shell, other = "#!/bin/bash\r\necho hi > b.txt\r\n", "#!/usr/bin/env python3\r\nprint(1)\r\n"
	for _, c := range []struct {
		c    commandConfig
		path string
	}{
		{commandConfig{Script: shell}, "script"},
		{commandConfig{Script: other}, ""},
		{commandConfig{Argv: []string{"bash", "b"}, Files: map[string]string{"b": shell}}, "files"},
		{commandConfig{Argv: []string{"/bin/bash", "-c", "set -x\r\necho\r\n"}}, "argv"},
		{commandConfig{Argv: []string{"python3", "-c", "import os\r\nprint(1)\r\n"}}, ""},
		{commandConfig{Argv: []string{"./b"}, Files: map[string]string{"b": other}}, "files"},
		{commandConfig{Argv: []string{"python3", "b"}, Files: map[string]string{"b": other, "c.csv": "a\r\n"}}, ""},
	} {
		c.c.programConfig = programDefaults
		ps, _ := errors.AsType[step.Problems](checkCommand(c.c))
		if len(ps) != min(1, len(c.path)) || len(ps) == 1 && (ps[0].Path != c.path || !strings.Contains(ps[0].Detail, "carriage returns")) {
			t.Errorf("%+v: %v", c.c, ps)
		}
	}
}

// TestProblemsInOrder: the first problem of several at one path is the same each time.
func TestProblemsInOrder(t *testing.T) {
	c := commandConfig{Argv: []string{"./empty"}, Files: map[string]string{"empty": ""}, programConfig: programConfig{ExitCodes: []int{0}}}
	testkit.None(t, checkCommand(c), "an empty script among files")
	for i := range 9 {
		c.Files[fmt.Sprintf("in/%d", i)] = ""
	}
	for range 20 {
		var ps step.Problems
		if err := checkCommand(c); !errors.As(err, &ps) || !strings.HasPrefix(ps[0].Detail, `"in/0" would be`) {
			t.Fatalf("got %v", err)
		}
	}
}

// TestFolderThere: a program that makes the folder of an output itself is told that it is there.
func TestFolderThere(t *testing.T) {
	const said = "FileExistsError: [Errno 17] File exists: 'res/a'"
	for outputs, hint := range map[string]bool{"res/a/": true, "res/a/x": true, "other/x": false, "res": false} {
		err := commandConfig{programConfig: programConfig{Outputs: []string{outputs}}}.withStrays(&command.ExitError{Argv: []string{"python"}, Code: 1, Tail: said}, t.TempDir())
		testkit.Is(t, strings.Contains(err.Error(), "exist_ok=True"), hint, outputs, err)
	}
}

// TestSecretsOfImage: no value of a secret gets onto an engine's command line.
func TestSecretsOfImage(t *testing.T) {
	hex := strings.Repeat("a", 64)
	for name, refused := range map[string]bool{"TOKEN": false, "DOCKER_CONFIG": true} {
		var ps step.Problems
		checkSecrets(&ps, commandConfig{programConfig: programConfig{SecretEnv: map[string]string{name: "env:X"},
			Isolation: "off", Environment: &environmentUse{Kind: "image", Packages: hex, Recipe: hex}}})
		if got := fmt.Sprint(ps); strings.Contains(got, "give the secret another name") != refused {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestUnkeyed: what a step loads that its key does not have is said, by the launchers that it
// starts and the interpreters of which only the file counts.
func TestUnkeyed(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"uv", "conda", "Rscript", "perl", "awk"} {
		testkit.Program(t, filepath.Join(bin, name), "\x7fELF")
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	const r, uv = "packages of R", "packages behind `uv run`"
	for _, x := range []struct {
		is   commandConfig
		want []string
	}{
		{commandConfig{Argv: []string{"awk", "run"}}, nil},
		{commandConfig{Argv: []string{"uv", "--quiet", "run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"uv", "--version"}}, nil},
		{commandConfig{Argv: []string{"env", "FOO=a b", "uv", "run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"/usr/bin/env", "-S", "A=1 uv run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"timeout", "-k", "5", "1h", "nice", "-n", "5", "bash", "-c", "uv run x"}}, []string{uv}},
		{commandConfig{Argv: []string{"env", "A=1", "Rscript", "x.R"}}, []string{r}},
		{commandConfig{Argv: []string{"timeout", "9", "python3.99", "x.py"}}, []string{"packages behind `python3.99`"}},
		{commandConfig{Argv: []string{"timeout", "9", "python3.99", "x.py"}, Programs: []string{"python3.99"}}, nil},
		{commandConfig{Script: "timeout 9 uv run x"}, []string{uv}},
		{commandConfig{Argv: []string{"uv", "tool", "run", "x"}}, []string{uv}},
		{commandConfig{Argv: []string{"python3.99", "-m", "uv", "run", "x"}}, []string{uv}},
		{commandConfig{Argv: []string{"uv", "-v", "--directory", "x", "run", "fit.py"}, Programs: []string{"conda"}}, []string{uv}},
		{commandConfig{Argv: []string{"sh", "-c", "# uv run x\nmake run"}}, nil},
		{commandConfig{Argv: []string{"srun", "-n", "4", "uv", "run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"mpirun", "-np", "4", "Rscript", "x.R"}}, []string{r}},
		{commandConfig{Argv: []string{"tox", "-e", "x"}}, []string{"packages behind `tox`"}},
		{commandConfig{Argv: []string{"guix", "shell", "x"}}, []string{"packages behind `guix shell`"}},
		{commandConfig{Argv: []string{"nix", "develop", "-c", "make"}}, []string{"packages behind `nix develop`"}},
		{commandConfig{Argv: []string{"pixi", "r", "fit"}}, []string{"packages behind `pixi r`"}},
		{commandConfig{Argv: []string{"uvx", "ruff"}}, []string{"packages behind `uvx`"}},
		{commandConfig{Argv: []string{"conda", "run", "-n", "x", "python"}}, []string{"packages behind `conda run`"}},
		{commandConfig{Argv: []string{"Rscript", "x.R"}, Programs: []string{"perl", "Rscript"}}, []string{"packages of Perl", r}},
		{commandConfig{Argv: []string{"julia", "x.jl"}}, []string{"packages of Julia"}}, // not installed here
		{commandConfig{Argv: []string{"./x"}, Files: map[string]string{"x": "#!/usr/bin/env -S uv run --script\n"}}, []string{uv}},
		{commandConfig{Script: "#!/usr/bin/env Rscript\n"}, []string{r}},
		{commandConfig{Script: "cd tmp && uv run fit.py | sort\npython3.99 a.py\nRscript x.R", Programs: []string{"Rscript", "uv"}},
			[]string{"packages behind `python3.99`", uv, r}},
		{commandConfig{Argv: []string{"bash", "-c", "for x in a b; do time python3.99 -m kd $x; perl x.pl; done"}}, []string{"packages behind `python3.99`", "packages of Perl"}},
		{commandConfig{Script: "python3.99 x.py; perl x.pl", Programs: []string{"python3.99", "perl"}}, []string{"packages of Perl"}},
		{commandConfig{Script: "python3.99 x.py", programConfig: programConfig{Environment: &environmentUse{Kind: "uv"}}}, nil},
		{commandConfig{Argv: []string{"sh", "-c", "uv run x"}}, []string{uv}},
		{commandConfig{Script: "Rscript x.R", programConfig: programConfig{Environment: &environmentUse{Kind: "conda"}}}, nil},
		{commandConfig{Argv: []string{"Rscript"}, programConfig: programConfig{Environment: &environmentUse{Kind: "image"}}}, nil},
	} {
		x.is.ProgramLibraries = true
		got := x.is.unkeyed()
		testkit.That(t, slices.Equal(got, x.want), x.is.Argv, x.is.Script, got, "want", x.want)
		x.is.ProgramLibraries = false
		if got := x.is.unkeyed(); got != nil {
			t.Errorf("%q without packages: %q", x.is.Argv, got)
		}
	}
}

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
			testkit.Program(t, filepath.Join(dir, name), text)
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
	file := testkit.Value(hashes{}.LocalFile(t.Context(), filepath.Join(there, "tool")))(t)
	c.Program = file.SHA256.Hex()
	if given, err := resolved(there, c); err != nil || given.Program != c.Program {
		t.Errorf("%v, %s, not the digest that was given", err, given.Program)
	} else if _, err := given.programOf(t.Context(), "tool", given.Program); err != nil {
		t.Error(err)
	}
	testkit.ErrSays(t, testkit.Err(resolved(here, c)), " has the digest ")
	c.Program = ""
	pyenv := t.TempDir()
	shim, version := filepath.Join(pyenv, "shims", "tool"), filepath.Join(pyenv, "versions", "3.11.7", "bin")
	testkit.Program(t, shim, "#!/bin/sh\nexport PYENV_ROOT="+pyenv+"\n")
	testkit.Write(t, filepath.Join(pyenv, "version"), "3.11.7\n")
	testkit.None(t, errors.Join(os.MkdirAll(filepath.Dir(version), 0o755), os.Symlink(here, version)))
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

// TestTell: a program is told what its step was given, unless env says otherwise; a step
// that asked for nothing is told nothing.
func TestTell(t *testing.T) {
	env := map[string]string{"OMP_NUM_THREADS": "1"}
	if tell(env, step.Granted{}); len(env) != 1 {
		t.Errorf("without a request: %v", env)
	}
	tell(env, step.Granted{CPUs: 4, Memory: 12e9, Cards: "0,1"})
	for name, want := range map[string]string{"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "4", "REDSI_CPUS": "4", "REDSI_MEMORY": "12000000000", "CUDA_VISIBLE_DEVICES": "0,1"} {
		testkit.Is(t, env[name], want, name)
	}
}

// TestLocalSources: what is not a file is refused with the way to name files.
func TestLocalSources(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s*{1}?[2]")
	for _, name := range []string{"b 1.txt", "b*{%2A}.txt"} {
		testkit.Write(t, filepath.Join(dir, name), name)
	}
	s := testkit.Value(lockfile.Open(filepath.Join(dir, lockfile.Name), dir, ""))(t)
	for url, want := range map[string]string{
		".":         "is not a regular file; a folder is written with a slash at its end",
		"*.fastq":   "no file in " + dir + " fits *.fastq",
		"a.fastq":   "no such file or directory",
		"nothing/x": "no such file or directory",
	} {
		_, err := resolveDownload(t.Context(), s, downloadConfig{URLs: []string{url}})
		testkit.That(t, err != nil && strings.HasSuffix(err.Error(), want), url, err)
	}
	// Of what is one, the letters of patterns in its path are themselves, also once it is absolute.
	for url, want := range map[string]string{"b 1.txt": "b 1.txt", "b*{%2A}.txt": "b*{%2A}.txt", "*.txt": "b 1.txt, b*{%2A}.txt", "./": "b 1.txt, b*{%2A}.txt"} {
		c, err := resolveDownload(t.Context(), s, downloadConfig{URLs: []string{url}})
		if err = errors.Join(err, checkDownload(c)); err != nil || strings.Join(c.Names, ", ") != want {
			t.Errorf("%s: %q, %v", url, c.Names, err)
		}
		for i, u := range c.URLs {
			if src, err := fetch.ParseSource(u); err != nil || src.Path != filepath.Join(dir, c.Names[i]) {
				t.Errorf("%s: %s is %s, %v", url, u, src.Path, err)
			}
		}
	}
}
