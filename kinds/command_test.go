package kinds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

const commandPipeline = `
step "command" "points" {
  argv    = ["sh", "-c", "echo '{\"n\": 3, \"deep\": {\"x\": 1.5}}' > out/a.json; echo '{\"n\": 4}' > out/sub/b.json; echo printed; echo said >&2"]
  outputs = ["a.json", "sub/"]
}
step "command" "read" {
  argv    = ["./read.sh", "two words"]
  files   = { "read.sh" = "#!/bin/sh\nset -e\ncat in/tree/a.json in/sub/tree/sub/b.json in/text in/all/1 - > out/seen\necho \"$1 $TZ $LANG $COLOR $HOME $SOURCE_DATE_EPOCH $PYTHONHASHSEED\" | sed \"s|$PWD|WORK|\" >> out/seen\nls in in/all >> out/seen\nexit 7\n" }
  inputs  = { tree = step.command.points.out, "sub/tree" = step.command.points.out, text = step.command.points.stdout }
  lists   = { all = [step.command.points.stdout, step.command.points.stdout] }
  stdin   = step.command.points.stdout
  env     = { COLOR = "red" }
  outputs = ["seen"]
  exit_codes = [0, 7]
  timeout = "10m"
}
table "t" {
  stubs   = ["File"]
  columns = [{ id = "n", title = "n", format = "integer" }, { id = "x", title = "x", format = "fixed", decimals = 1, field = "a.json:deep.x" }]
  rows = [
    { id = "a", titles = ["a"], value = step.command.points.out, at = "a.json:", fields = { x = "deep.x" } },
    { id = "b", titles = ["b"], value = step.command.points.out, fields = { n = "sub/b.json:n" } },
  ]
}
`

func writePipeline(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.hcl")
	testkit.Write(t, file, text)
	return file
}

func TestCommand(t *testing.T) {
	l := newLocal(t)
	got := l.run(l.plan(writePipeline(t, commandPipeline), nil))
	seen, ok := got[1].Outputs["out"].File("seen")
	if !ok {
		t.Fatalf("outputs %v", got[1].Outputs)
	}
	want := `{"n": 3, "deep": {"x": 1.5}}
{"n": 4}
printed
printed
printed
two words UTC C.UTF-8 red WORK 0 0
in:
all
sub
text
tree

in/all:
0
1
`
	testkit.Is(t, l.text(seen.Digest), want, "the program saw")
	table := l.text(got[2].Outputs["csv"].Digest)
	for _, row := range []string{"a,3,1.5", "b,4,1.5"} {
		testkit.Says(t, table, row)
	}
}

// A step may have its result in what it prints alone; its tree then has no file, also where
// a step reads it.
func TestCommandPrints(t *testing.T) {
	l := newLocal(t)
	got := l.run(l.plan(writePipeline(t, `
step "command" "count" { argv = ["seq", "3"] }
step "command" "read" {
  script = "cat in/text; ls -A in/none | wc -l"
  inputs = { text = step.command.count.stdout, none = step.command.count.out }
}
`), nil))
	if s := l.text(got[1].Outputs["stdout"].Digest); strings.Join(strings.Fields(s), " ") != "1 2 3 0" {
		t.Errorf("printed %q", s)
	}
}

// What is in the key and what is not.
func TestCommandKey(t *testing.T) {
	keys := func(text string) artifacts.Digest {
		return preview(t, newLocal(t).plan(writePipeline(t, text), nil, "step.command.x"), nothing).Items[0].Key
	}
	const base = `step "command" "x" {
  argv = ["sh", "-c", "true"]
  files = { a = "1" }
  outputs = ["o"]
}`
	for _, edit := range [][2]string{
		{`"true"]`, `"false"]`}, {"\n}", "\n  isolation = \"enforce\"\n}"}, {`"o"]`, `"p"]`}, {`a = "1"`, `a = "2"`}, {"\n}", "\n  env = { A = \"1\" }\n}"},
	} {
		if keys(strings.Replace(base, edit[0], edit[1], 1)) == keys(base) {
			t.Errorf("editing %q to %q does not move the key", edit[0], edit[1])
		}
	}
	if keys(strings.Replace(base, "\n}", "\n  timeout = \"1m\"\n  exit_codes = [0]\n  isolation = \"off\"\n}", 1)) != keys(base) {
		t.Error("a timeout and a default move the key")
	}
	// Another program of the same name has another key, also of one that is started.
	scripted := strings.Replace(base, `argv = ["sh", "-c", "true"]`, "script = \"true\"\n  programs = [\"sh\"]", 1)
	unnamed := strings.Replace(scripted, `programs = ["sh"]`, "", 1)
	before, scriptedBefore, unnamedBefore := keys(base), keys(scripted), keys(unnamed)
	if keys(strings.Replace(scripted, `"true"`, `"false"`, 1)) == scriptedBefore {
		t.Error("another script has the same key")
	}
	dir := t.TempDir()
	testkit.Program(t, filepath.Join(dir, "sh"), "#!/bin/sh\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if keys(base) == before || keys(scripted) == scriptedBefore || keys(unnamed) != unnamedBefore {
		t.Error("another program has the same key, or one that is not named has not")
	}
}

func nothing(context.Context, []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
	return nil, nil
}

func TestCommandFails(t *testing.T) {
	for name, c := range map[string]struct{ attrs, want string }{
		"exit code":  {`argv = ["sh", "-c", "echo the reason >&2; exit 2"]`, "sh exited with code 2; the end of its standard error:\nthe reason"},
		"no output":  {`argv = ["sh", "-c", "true"]`, "did not write its output out/o"},
		"beside out": {`argv = ["sh", "-c", "echo > o"]`, "out/o: it left o beside out/; let it write to out/o"},
		"elsewhere":  {`argv = ["sh", "scripts/x.sh"]`, "argv[1] is scripts/x.sh, and there is no such file"},
		"undeclared": {`argv = ["sh", "-c", "echo > out/o; echo > out/p"]`, "out/p, which outputs does not declare"},
		"too long":   {`argv = ["sh", "-c", "true", join("", [for i in range(150): "` + strings.Repeat("0123456789", 1000) + `"])]`, "longer than this system takes"},
		"no program": {`argv = ["./x"]` + "\n" + `files = { x = "not a script" }`, "name its interpreter first"},
		"file limit": {`argv = ["sh", "-c", "ulimit -f 1; exec head -c 100000 /dev/zero > out/o"]`, "ulimit -f"},
		"timeout":    {"argv = [\"sh\", \"-c\", \"sleep 3600\"]\n timeout = \"20ms\"", "ran past its timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			newLocal(t).firstFails(writePipeline(t, commandStep(c.attrs)), c.want)
		})
	}
}

// firstFails wants an error of a pipeline's first step, which is not tried again.
func (l *local) firstFails(file, want string) error {
	l.t.Helper()
	_, err := l.tryFirst(l.plan(file, nil))
	if err == nil || !strings.Contains(err.Error(), want) || !isPermanent(err) {
		l.t.Errorf("%s: got %v, want %s, and no retry", file, err, want)
	}
	return err
}

// commandStep is a pipeline of a step with an output.
func commandStep(body string) string {
	return "step \"command\" \"x\" {\n" + body + "\noutputs = [\"o\"]\n}"
}

func isPermanent(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.NonRetryable()
}

// A script runs by bash, which sees a failure within a pipe, or by what its first line
// names; what it has besides, argv has, too.
func TestCommandScript(t *testing.T) {
	l := newLocal(t)
	got := l.run(l.plan(writePipeline(t, `
step "command" "by_bash" {
  script = <<-EOT
    read -r word
    . ./lib.sh
    set_out | tee >(cat >&2) > out/o
    printf '%s %s' "$word" "$-" | tr -d B
  EOT
  files   = { "lib.sh" = "set_out() { cat in/x; }" }
  inputs  = { x = step.command.by_awk.stdout }
  stdin   = step.command.by_awk.stdout
  outputs = ["o"]
}
step "command" "by_awk" {
  script  = "#!/usr/bin/env -S awk -f\nBEGIN { print \"typed\"; print 1 > \"out/o\" }"
  outputs = ["o"]
}
`), nil))
	testkit.Is(t, l.text(got[1].Outputs["stdout"].Digest), "typed ehu", "bash printed")
	for text, want := range map[string]string{
		"no-such-tool in/x | cat > out/o": "bash exited with code 127; the end of its standard error:\nscript: line 1: no-such-tool: command not found",
		"echo $NOWHERE > out/o":           "script: line 1: NOWHERE: unbound variable",
		"#!/bin/sh -e\nfalse\n: > out/o":  "/bin/sh exited with code 1",
	} {
		newLocal(t).firstFails(writePipeline(t, commandStep(fmt.Sprintf("script = %q", text))), want)
	}
}

// A full disk is said at once: another run of the program would meet it again.
func TestCommandFullDisk(t *testing.T) {
	for name, want := range map[string]string{
		"echo > out/o":            "free space on this worker's disk",
		"echo > out/o; echo long": "the store has no space",
	} {
		l := newLocal(t)
		pl := l.plan(writePipeline(t, commandStep(fmt.Sprintf("argv = [\"sh\", \"-c\", %q]\nfiles = { f = \"text\" }", name))), nil)
		ctx := context.Background()
		digest, err := plan.Store(ctx, l.Store.Own.Blobs, pl)
		testkit.None(t, err)
		if strings.HasPrefix(want, "the store") {
			store, faults := storetest.Faulty(l.Store.Own)
			l.Store = artifacts.Alone(store)
			faults.Add(storetest.BlobsPut, storetest.Fault{Err: syscall.ENOSPC})
		} else {
			l.Scratch = fullDisk{l.Scratch}
		}
		_, err = l.Do(ctx, workflows.DoRequest{Plan: digest, Steps: []workflows.Ready{{Index: 0}}})
		testkit.That(t, isPermanent(err) && strings.Contains(err.Error(), want), "got", err, "want", want)
	}
}

// fullDisk has no room for a folder.
type fullDisk struct{ step.Scratch }

func (fullDisk) New() (string, error) {
	return "", &fs.PathError{Op: "mkdir", Path: "x", Err: syscall.ENOSPC}
}

// A worker whose program is another than the plan's refuses the work.
func TestCommandOtherProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	tool := filepath.Join(dir, "tool")
	testkit.Program(t, tool, "#!/bin/sh\necho 1 > out/o\n")
	l := newLocal(t)
	pl := l.plan(writePipeline(t, commandStep(`argv = ["tool"]`)), nil)
	testkit.Program(t, tool, "#!/bin/sh\necho 22 > out/o\n")
	testkit.ErrSays(t, testkit.Err(l.tryFirst(pl)), "give all workers the same program")
	pl = l.plan(writePipeline(t, commandStep("script = \"tool\"\nprograms = [\"tool\"]")), nil)
	testkit.Program(t, tool, "#!/bin/sh\necho 1 > out/o\n")
	testkit.ErrSays(t, testkit.Err(l.tryFirst(pl)), "this worker's "+tool+" has the digest")
	file := writePipeline(t, commandStep("argv = [\"no-such-tool\"]\nprogram = \""+strings.Repeat("ab", 32)+"\""))
	testkit.ErrSays(t, testkit.Err(l.tryFirst(l.plan(file, nil))), "on this worker: program no-such-tool")
}

// tryFirst does the first step of a plan.
func (l *local) tryFirst(pl *plan.Plan) (workflows.Outcome, error) {
	l.t.Helper()
	ctx := context.Background()
	digest := testkit.Value(plan.Store(ctx, l.Store.Own.Blobs, pl))(l.t)
	out, err := l.Do(ctx, workflows.DoRequest{Plan: digest, Steps: []workflows.Ready{{Index: 0}}})
	if err != nil {
		return workflows.Outcome{}, err
	}
	return out[0], nil
}

func TestCommandMistakes(t *testing.T) {
	l := newLocal(t)
	spec := l.Registry.Lookup("command")
	mistakes(t, "command", nil, map[string]map[string]any{
		"needs a program":                     {"argv": []any{}, "outputs": []any{"o"}},
		`"x.sh" is not one of files`:          {"argv": []any{"./x.sh"}, "outputs": []any{"o"}},
		`such as "plots/", into`:              {"argv": []any{"sh"}, "outputs": []any{"plots/*.png"}},
		`"a" would be both a name`:            {"argv": []any{"sh"}, "files": map[string]any{"a": "", "a/b": ""}},
		`"../o" is not a clean`:               {"argv": []any{"sh"}, "outputs": []any{"../o"}},
		"HOME is set by the step":             {"argv": []any{"sh"}, "outputs": []any{"o"}, "env": map[string]any{"HOME": "/"}},
		`would be in the folder in`:           {"argv": []any{"sh"}, "outputs": []any{"o"}, "files": map[string]any{"in/x": "1"}},
		`"soon" is not a positive`:            {"argv": []any{"sh"}, "outputs": []any{"o"}, "timeout": "soon"},
		"is not 64 hex digits":                {"argv": []any{"sh"}, "outputs": []any{"o"}, "program": "12"},
		`needs at least one`:                  {"argv": []any{"sh"}, "outputs": []any{"o"}, "exit_codes": []any{}},
		`"a=b" is not the name of`:            {"argv": []any{"sh"}, "outputs": []any{"o"}, "env": map[string]any{"a=b": "/"}},
		`isolation_reads[0]: "x"`:             {"argv": []any{"sh"}, "outputs": []any{"o"}, "isolation": "warn", "isolation_reads": []any{"x"}},
		`only with isolation`:                 {"argv": []any{"sh"}, "outputs": []any{"o"}, "isolation_reads": []any{"/x"}},
		`argv[1]: has a NUL byte`:             {"argv": []any{"sh", "a\x00b"}, "outputs": []any{"o"}},
		`env.A: has a NUL byte`:               {"argv": []any{"sh"}, "outputs": []any{"o"}, "env": map[string]any{"A": "a\x00b"}},
		`script: is given together with argv`: {"argv": []any{"sh"}, "script": "true", "outputs": []any{"o"}},
		`script: line 2: `:                    {"script": "true\nif x; then", "outputs": []any{"o"}},
		`script: the first line`:              {"script": "#!\n", "outputs": []any{"o"}},
		`"script" is the name that`:           {"script": "true", "outputs": []any{"o"}, "files": map[string]any{"script": "1"}},
		`programs[1]: "a" is given`:           {"argv": []any{"sh"}, "outputs": []any{"o"}, "programs": []any{"a", "a"}},
		`["b"]: is not one of`:                {"argv": []any{"sh"}, "outputs": []any{"o"}, "program_digests": map[string]any{"b": "1"}},
		`"/abs" is not a clean`:               {"argv": []any{"sh"}, "outputs": []any{"o"}, "files": map[string]any{"/abs": "1"}},
	})
	sources := testkit.Value(lockfile.Open(filepath.Join(t.TempDir(), lockfile.Name), ".", ""))(t)
	lint := func(tree map[string]any) string {
		tree["outputs"] = []any{"o"}
		task := testkit.Value(step.NewTask(spec, tree))(t)
		return step.Problems(spec.Lint(task)).Error()
	}
	for want, tree := range map[string]map[string]any{
		"it calls x.sh from PATH, and files has":          {"script": "x.sh", "files": map[string]any{"x.sh": ""}},
		"argv: the pipe in line 1 succeeds":               {"argv": []any{"sh", "-c", "sort in/x | cat > out/o"}},
		"script: the pipe in line 2 succeeds":             {"script": "#!/bin/sh\nsort in/x | cat > out/o"},
		`name it: programs = ["bwa"]`:                     {"script": "bwa in/x | sort > out/o"},
		`argv: it calls bwa, and a change of its version`: {"argv": []any{"bash", "-ec", "bwa in/x > out/o"}},
		"": {"script": "bwa in/x | sort > out/o\n./x", "programs": []any{"bwa"}, "files": map[string]any{"x": ""}},
	} {
		if got := lint(tree); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%v: the warnings are %q, want %s", tree, got, want)
		}
	}
	for want, argv := range map[string]string{"is a relative path": "bin/x", "to plan without it": "no-such-program", `write "./x.sh"`: "x.sh"} {
		task := testkit.Value(step.NewTask(spec, map[string]any{"argv": []any{argv}, "files": map[string]any{"x.sh": ""}}))(t)
		testkit.ErrSays(t, testkit.Err(l.Registry.Resolved(context.Background(), planSources{sources}, task)), want)
	}
}

// The study of examples/kmeans-study gives the same bytes as when it was written.
func TestCommandStudy(t *testing.T) {
	l := newLocal(t)
	got := l.run(l.plan(filepath.Join("..", "examples", "kmeans-study", "pipelines.hcl"), map[string]string{"seeds": "1"}))
	var metrics bytes.Buffer
	for _, r := range got {
		if f, ok := r.Outputs["out"].File("metrics.json"); ok {
			metrics.WriteString(l.text(f.Digest))
		}
	}
	goldens.Same(t, filepath.Join("testdata", "kmeans-study.golden"), metrics.String())
}

// shellPython is an environment whose Python is a shell, with a version of numpy.
func shellPython(t *testing.T, dir, numpy string) {
	t.Helper()
	site := filepath.Join(dir, "lib", "python3.11", "site-packages")
	testkit.None(t, os.RemoveAll(dir))
	for name, text := range map[string]string{
		filepath.Join(dir, "pyvenv.cfg"):                          "home = /usr/bin\n",
		filepath.Join(dir, "bin", "tool"):                         "#!" + filepath.Join(dir, "bin", "python") + "\necho > out/o\n",
		filepath.Join(site, "numpy-"+numpy+".dist-info/METADATA"): "",
		filepath.Join(site, "numpy-"+numpy+".dist-info/RECORD"):   "",
		filepath.Join(site, "sitecustomize.py"):                   "",
	} {
		testkit.Program(t, name, text)
	}
	for _, name := range []string{"python", "pypy"} {
		testkit.None(t, os.Symlink("/bin/sh", filepath.Join(dir, "bin", name)))
	}
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
		key, preimage, err := l.Registry.Key(l.plan(writePipeline(t, commandStep(body)), nil).Steps[0].Task)
		testkit.None(t, err)
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
		testkit.Is(t, keyOf("1.26.4", body) != keyOf("2.0.1", body), counts, body)
	}
	if on, off := keyOf("1", `argv = ["sh"]`), keyOf("1", "argv = [\"sh\"]\nprogram_libraries = true"); on != off {
		t.Error("the default is in the key")
	}
	mistakes(t, "command", map[string]any{"argv": []any{"sh"}, "outputs": []any{"o"}}, map[string]map[string]any{
		"libraries[0]: is not 64 hex": {"libraries": []any{"x"}},
		"libraries: is given with":    {"program_libraries": false, "libraries": []any{strings.Repeat("a", 64)}},
	})
}

// TestCommandOtherLibraries: a worker that has other packages than the plan was made with
// refuses the work and names them; what changes while a program runs is seen.
func TestCommandOtherLibraries(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	shellPython(t, dir, "1.26.4")
	l := newLocal(t)
	made := l.run(l.plan(writePipeline(t, commandStep(`argv = ["python", "-c", "echo > out/o"]`)), nil))[0]
	if len(made.Kept) != 1 || made.Env[step.NotePrefix+"libraries"] != "1 distribution of "+dir+"; of no distribution: sitecustomize.py" {
		t.Errorf("kept %v, %v", made.Kept, made.Env)
	} else if m, err := libraries.Parse([]byte(l.text(made.Kept[0].Digest))); err != nil || len(m.Distributions) != 1 {
		t.Errorf("%v, %v", m, err)
	} else if !strings.Contains(string(made.Preimage), made.Kept[0].Digest.Hex()) {
		t.Errorf("%s has not the digest of what is kept", made.Preimage)
	}
	refused := func(body, want string, change func()) {
		t.Helper()
		pl := l.plan(writePipeline(t, commandStep(body)), nil)
		change()
		testkit.ErrSays(t, testkit.Err(l.tryFirst(pl)), want)
	}
	refused(`argv = ["python", "-c", "echo 2 > out/o"]`, ": numpy 1.26.4 -> 2.0.1; plan and run again if they have changed, and give all workers the same",
		func() { shellPython(t, dir, "2.0.1") })
	refused(fmt.Sprintf(`argv = ["python", "-c", "echo 1 > %s/lib/python3.11/site-packages/sitecustomize.py; echo > out/o"]`, dir), "this worker has other packages than the plan was made with", func() {})
	shell := readFile(t, "/bin/sh")
	testkit.None(t, os.Rename(dir, dir+".away"))
	refused(fmt.Sprintf(`argv = ["pypy", "x"]`+"\nprogram = %q", artifacts.Sum(shell).Hex()), "it was made without the program; give the digests there as libraries", func() {
		testkit.None(t, os.Rename(dir+".away", dir))
	})
}

// standIn puts a shell script into PATH as a program: tests need no Python.
func standIn(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	testkit.Program(t, filepath.Join(dir, name), "#!/bin/sh\nset -e\n"+script)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// study writes files into a new folder and returns the path of its pipeline.
func study(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	return filepath.Join(dir, "p.hcl")
}
