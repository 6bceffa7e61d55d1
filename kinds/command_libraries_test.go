package kinds_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

// shellPython is an environment whose Python is a shell, with a version of numpy.
func shellPython(t *testing.T, dir, numpy string) {
	t.Helper()
	site := filepath.Join(dir, "lib", "python3.11", "site-packages")
	errtest.None(t, os.RemoveAll(dir))
	for name, text := range map[string]string{
		filepath.Join(dir, "pyvenv.cfg"):                          "home = /usr/bin\n",
		filepath.Join(dir, "bin", "tool"):                         "#!" + filepath.Join(dir, "bin", "python") + "\necho > out/o\n",
		filepath.Join(site, "numpy-"+numpy+".dist-info/METADATA"): "",
		filepath.Join(site, "numpy-"+numpy+".dist-info/RECORD"):   "",
		filepath.Join(site, "sitecustomize.py"):                   "",
	} {
		filetest.Program(t, name, text)
	}
	for _, name := range []string{"python", "pypy"} {
		errtest.None(t, os.Symlink("/bin/sh", filepath.Join(dir, "bin", name)))
	}
}

func libraryStep(body string) string {
	return "step \"command\" \"x\" {\n" + body + "\noutputs = [\"o\"]\n}"
}

// TestCommandLibraries: what is installed for an interpreter is in the key, whichever way
// the step names it, unless the step says otherwise; nothing else moves.
func TestCommandLibraries(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	l := newLocal(t)
	keyOf := func(numpy, body string) artifacts.Digest {
		t.Helper()
		shellPython(t, dir, numpy)
		key, preimage, err := l.Registry.Key(l.plan(writePipeline(t, libraryStep(body)), nil).Steps[0].Task)
		errtest.None(t, err)
		if strings.Contains(string(preimage), dir) {
			t.Errorf("a path is in the key: %s", preimage)
		}
		return key
	}
	for body, counts := range map[string]bool{
		`argv = ["python", "fit.py"]`:                                        true,
		`script = "#!/usr/bin/env python\necho > out/o"`:                     true,
		`script = "tool"` + "\n" + `programs = ["tool"]`:                     true,
		"argv = [\"./a\"]\nfiles = { a = \"#!/usr/bin/env python\\n\" }":     true,
		`argv = ["sh", "-c", "true"]`:                                        false,
		"argv = [\"python\", \"fit.py\"]\nprogram_libraries = false":         false,
		"argv = [\"sh\"]\nprograms = [\"python\"]\nprogram_libraries = true": true,
	} {
		if differ := keyOf("1.26.4", body) != keyOf("2.0.1", body); differ != counts {
			t.Errorf("%s: keys differ: %t", body, differ)
		}
	}
	if on, off := keyOf("1", `argv = ["sh"]`), keyOf("1", "argv = [\"sh\"]\nprogram_libraries = true"); on != off {
		t.Error("the default is in the key")
	}
	spec := l.Registry.Lookup("command")
	for want, tree := range map[string]map[string]any{
		"libraries[0]: is not 64 hex": {"argv": []any{"sh"}, "outputs": []any{"o"}, "libraries": []any{"x"}},
		"libraries: is given with":    {"argv": []any{"sh"}, "outputs": []any{"o"}, "program_libraries": false, "libraries": []any{strings.Repeat("a", 64)}},
	} {
		errtest.Says(t, errtest.Of(spec.Complete(tree)), want)
	}
}

// TestCommandOtherLibraries: a worker that has other packages than the plan was made with
// refuses the work and names them; what changes while a program runs is seen.
func TestCommandOtherLibraries(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	shellPython(t, dir, "1.26.4")
	l := newLocal(t)
	made := l.run(l.plan(writePipeline(t, libraryStep(`argv = ["python", "-c", "echo > out/o"]`)), nil))[0]
	if len(made.Kept) != 1 || made.Env[step.NotePrefix+"libraries"] != "1 distribution of "+dir+"; of no distribution: sitecustomize.py" {
		t.Errorf("kept %v, %v", made.Kept, made.Env)
	} else if m, err := libraries.Parse([]byte(l.text(made.Kept[0].Digest))); err != nil || len(m.Distributions) != 1 {
		t.Errorf("%v, %v", m, err)
	} else if !strings.Contains(string(made.Preimage), made.Kept[0].Digest.Hex()) {
		t.Errorf("%s has not the digest of what is kept", made.Preimage)
	}
	refused := func(body, want string, change func()) {
		t.Helper()
		pl := l.plan(writePipeline(t, libraryStep(body)), nil)
		change()
		errtest.Says(t, errtest.Of(l.tryFirst(pl)), want)
	}
	refused(`argv = ["python", "-c", "echo 2 > out/o"]`, ": numpy 1.26.4 -> 2.0.1; plan and run again if they have changed, and give all workers the same",
		func() { shellPython(t, dir, "2.0.1") })
	refused(fmt.Sprintf(`argv = ["python", "-c", "echo 1 > %s/lib/python3.11/site-packages/sitecustomize.py; echo > out/o"]`, dir), "this worker has other packages than the plan was made with", func() {})
	digest, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	errtest.None(t, os.Rename(dir, dir+".away"))
	refused(fmt.Sprintf(`argv = ["pypy", "x"]`+"\nprogram = %q", artifacts.Sum(digest).Hex()), "it was made without the program; give the digests there as libraries", func() {
		errtest.None(t, os.Rename(dir+".away", dir))
	})
}
