package general

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type commandConfig struct {
	Argv           []string          `hcl:"argv,optional" help:"program and arguments, without a shell. The program is looked up in PATH; \"./NAME\" is one of files. Give this or script"`
	Script         string            `hcl:"script,optional,added" help:"text of a script, in place of argv. It runs by bash -euo pipefail, or by the program that its first line names: #!/bin/sh, #!/usr/bin/env python3"`
	Programs       []string          `hcl:"programs,optional,added" help:"programs that the script or program starts, such as [\"bwa\", \"samtools\"]: another version of one is another step. They are looked up in PATH"`
	ProgramDigests map[string]string `hcl:"program_digests,optional,added" help:"sha256 of programs by name, in hex; default: of the programs that PATH finds when planned"`
	Program        string            `hcl:"program,optional" help:"sha256 of the program's file, in hex; default: of the program that PATH finds when planned; an installer's script counts without its environment's folder"`
	Files          map[string]string `hcl:"files,optional" help:"scripts and settings: file name in the working folder to its text, often by file()"`
	Stdin          step.Input        `hcl:"stdin,optional" help:"artifact given on standard input; default: nothing"`
	programConfig
	code *asIs // of a program that runs beside its code
}

// programConfig is what steps that run a program have in common.
type programConfig struct {
	Inputs           map[string]step.Input  `hcl:"inputs,optional" help:"artifacts by name, which may have slashes: a file is in/NAME, the files of a tree are in/NAME/FILE; for python and script without in/"`
	Lists            map[string]step.Inputs `hcl:"lists,optional" help:"lists of artifacts, such as one per seed: in/NAME/0, in/NAME/1 and so on; for python and script without in/"`
	Outputs          []string               `hcl:"outputs,optional" help:"what the program writes into the folder out (python and script: into their own folder): files, and folders as \"NAME/\". Each must be there afterwards, and in out nothing else; none: the result is what it prints"`
	Environment      *environmentUse        `hcl:"environment,optional,added" help:"what the program is run in, as its lock has it: environment.NAME. A program's name without a path is looked up there, except sh, bash, dash and env"`
	Env              map[string]string      `hcl:"env,optional" help:"environment, beside PATH, HOME, TMPDIR, TZ=UTC, LANG=C.UTF-8, SOURCE_DATE_EPOCH=0 and PYTHONHASHSEED=0"`
	ExitCodes        []int                  `hcl:"exit_codes,optional" help:"exit codes that mean success"`
	ProgramLibraries bool                   `hcl:"program_libraries,added" help:"what is installed for Python, or with conda, counts: another version of a package is another step. false leaves it out"`
	Libraries        []string               `hcl:"libraries,optional,added" help:"digests of what is installed for the programs that are interpreters, in hex; default: of what is installed when planned"`
	Isolation        string                 `hcl:"isolation,added" enum:"off,warn,enforce" help:"what becomes of files outside the folder, system and program, and of the network: warn reports what is used, enforce keeps it out (Linux)"`
	Reads            []string               `hcl:"isolation_reads,optional,nokey" help:"files and folders of the worker that the program may read under isolation, such as an interpreter's own: absolute paths"`
	SecretEnv        map[string]string      `hcl:"secret_env,optional,added,names,secret" help:"environment variables whose values are looked up where the program starts and are stored nowhere: name to \"env:NAME\", \"file:/PATH\" or a sensitive variable. The key has the names"`
	Compare          map[string]compareRule `hcl:"compare,optional,nokey" help:"how two results are compared where their bytes differ, by redsi verify --rebuild: file under out/, with * and ? for parts of its name, or \"stdout\", to its rule; others by bytes"`
	CopyInputs       bool                   `hcl:"copy_inputs,optional,nokey" help:"copy all inputs, so that the program may move and remove them; default: large ones are mounted read-only where the system can"`
	Timeout          string                 `hcl:"timeout,optional,nokey" help:"longest time that it may run, such as 90m; default: none"`
}

var programDefaults = programConfig{ExitCodes: []int{0}, ProgramLibraries: true, Isolation: string(isolation.Off)}

var Command = step.Define(step.Kind[commandConfig]{
	Name:    "command",
	Version: 2,
	Doc: `Run any program as a step.
It starts in a new folder that has its files, its inputs under in/ and an empty
folder out/, with an environment of only the variables given. Everything it
leaves under out/ is the tree "out"; what it prints is "stdout"; what it says on
standard error is shown as progress, printed by ` + "`redsi logs`" + ` and, if it fails, in the error. The key has
the arguments or the script, files, inputs, environment, outputs, exit codes and the
SHA-256 of the program's file and of each of programs, so that another version of one is
another step; and, of programs that Python runs, what is installed for it: names,
versions and files of packages. Not in the key: what else the program loads or starts,
such as shared libraries and Python's own modules, the clock.
isolation = "enforce" keeps out other files of this machine and the network, "warn"
reports their use. Cost: the program, and a copy of small inputs; large ones are not
copied where the system can mount them or share blocks. docs/commands.md has the rules.`,
	Example: `step "command" "fit" {
  argv    = ["awk", "-f", "fit.awk", "-v", "k=8", "in/points.csv"]
  files   = { "fit.awk" = file("fit.awk") }
  inputs  = { "points.csv" = step.command.points.stdout }
  outputs = ["metrics.json"]
}`,
	Outputs: []step.Output{
		{Name: "out", Type: "files", Tree: true, Help: "the files under out/", Why: "unless compare says otherwise"},
		{Name: "stdout", Type: "file", Help: "what it printed", Why: "unless compare says otherwise"},
	},
	Defaults: commandConfig{programConfig: programDefaults},
	Check:    checkCommand,
	Lint:     commandConfig.lint,
	Unkeyed:  commandConfig.unkeyed,
	Class:    "program",
	Leaves:   func(c commandConfig) map[string][]string { return map[string][]string{"out": c.Outputs} },
	Resolve:  resolveCommand,
	Run:      runCommand,
	Stage:    stageProgram,
	Alike:    commandConfig.alike,
})

// ownVariables are set by the step itself.
var ownVariables = []string{"PATH", "HOME", "TMPDIR"}

// hasNUL says what is wrong with an argument or a variable.
const hasNUL = "has a NUL byte, which cannot be passed to a program; put it in one of files"

func checkCommand(c commandConfig) error {
	var ps step.Problems
	checkProgram(&ps, c)
	if text, ok := script.Inline(c.Argv); ok {
		inout.Check(&ps, "argv", !script.Returns("text."+path.Base(c.Argv[0]), text, false), carriageReturns)
	}
	files := slices.Sorted(maps.Keys(c.Files))
	checkFolders(&ps, "files", files)
	for _, name := range files {
		started := len(c.Argv) > 0 && c.Argv[0] == "./"+name
		inout.Check(&ps, "files", !script.Returns(name, c.Files[name], started), "%s: %s", name, carriageReturns)
		if err := errors.Join(command.CheckName(name), artifacts.CheckFileName(name)); err != nil {
			inout.Add(&ps, "files", "%v", err)
		} else if top, _, _ := strings.Cut(name, "/"); top == "in" || top == "out" || top == "tmp" {
			inout.Add(&ps, "files", "%q would be in the folder %s, which is the step's own", name, top)
		}
	}
	inputs, lists := slices.Sorted(maps.Keys(c.Inputs)), slices.Sorted(maps.Keys(c.Lists))
	for _, name := range inputs {
		checkInputName(&ps, "inputs", name)
		_, both := c.Lists[name]
		inout.Check(&ps, "lists", !both, "%q is also an input", name)
	}
	for _, name := range lists {
		checkInputName(&ps, "lists", name)
	}
	checkFolders(&ps, "inputs", append(inputs, lists...))
	for i, arg := range c.Argv {
		if strings.ContainsRune(arg, 0) {
			inout.Add(&ps, fmt.Sprintf("argv[%d]", i), hasNUL)
		}
	}
	ps = append(ps, c.compareProblems()...)
	inout.CheckError(&ps, "outputs", command.Outputs(c.Outputs).Check())
	for _, name := range c.Outputs {
		inout.CheckError(&ps, "outputs", artifacts.CheckFileName(strings.TrimSuffix(name, "/")))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		inout.Check(&ps, "env."+name, !strings.ContainsRune(c.Env[name], 0), hasNUL)
		checkVariable(&ps, "env", name)
	}
	for i, p := range c.Reads {
		inout.Check(&ps, fmt.Sprintf("isolation_reads[%d]", i), filepath.IsAbs(p), "%q is not an absolute path; what belongs to the study goes into files or inputs", p)
	}
	inout.Check(&ps, "isolation_reads", len(c.Reads) == 0 || c.Isolation != string(isolation.Off), "works only with isolation = \"warn\" or \"enforce\"")
	checkSecrets(&ps, c)
	checkEnvironment(&ps, c)
	inout.Check(&ps, "exit_codes", len(c.ExitCodes) > 0, "needs at least one")
	_, err := c.timeout()
	inout.Check(&ps, "timeout", err == nil, "%q is not a positive time such as 90m", c.Timeout)
	return ps.Err()
}

func checkVariable(ps *step.Problems, path, name string) {
	inout.Check(ps, path, !slices.Contains(ownVariables, name), "%s is set by the step", name)
	inout.Check(ps, path, name != "" && !strings.ContainsAny(name, "=\x00"), "%q is not the name of a variable", name)
}

func checkInputName(ps *step.Problems, path, name string) {
	err := errors.Join(command.CheckName(name), artifacts.CheckFileName(name))
	inout.Check(ps, path, err == nil, "%q is not a file name", name)
}

// checkFolders adds the names that are also a folder of another name.
func checkFolders(ps *step.Problems, at string, names []string) {
	for _, name := range names {
		for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			inout.Check(ps, at, !slices.Contains(names, dir), "%q would be both a name and the folder of %q", dir, name)
		}
	}
}

func (c commandConfig) timeout() (time.Duration, error) {
	if c.Timeout == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(c.Timeout)
	if err == nil && d <= 0 {
		err = errors.New("not positive")
	}
	return d, err
}

func runCommand(ctx context.Context, x *step.IO, c commandConfig) error {
	if err := c.unpack(); err != nil {
		return err
	}
	secrets, err := secret.Finder{Vars: x.Secrets}.Values(c.SecretEnv) // on this worker
	if err != nil {
		return step.Permanent(err)
	}
	return withoutSecrets(runProgram(ctx, x, c, secrets), secrets)
}

func runProgram(ctx context.Context, x *step.IO, c commandConfig, secrets secret.Set) error {
	dir, err := x.Scratch()
	if err != nil {
		return noRoom(err, noRoomHere)
	}
	x.Report(step.Progress{Note: "staging inputs"})
	image := c.Environment != nil && c.Environment.Kind == environment.Image // an engine's own process does not see mounts of this one
	in := &inputs{x: x, mount: !c.CopyInputs && !image && !c.readElsewhere()}
	if os.Geteuid() != 0 && c.Isolation == string(isolation.Off) {
		in.least = leastOfUser
	}
	if err := stageCommand(in, c, dir); err != nil {
		return noRoom(err, noRoomHere)
	}
	argv := c.line()
	within, err := c.enter(ctx, x)
	if err != nil {
		return err
	}
	defer within.Close()
	programs, err := c.programs(ctx, dir, within)
	if err != nil {
		return err
	}
	if err := errors.Join(keepLibraries(ctx, x, c), keepEnvironment(ctx, x, c.programConfig, within)); err != nil {
		return err
	}
	run := command.Run{Program: programs[0].path, Argv: argv, Dir: dir, Env: c.environment(dir), ExitCodes: c.ExitCodes,
		Stderr: x.Stderr,
		Used:   func(u usage.Program) { x.Program(u.CPU, u.Memory) },
		Exited: func(code int) {
			if code != 0 {
				x.Note("exit code", strconv.Itoa(code))
			}
		},
		Line: func(s string) {
			x.Log.Debug(s)
			x.Report(step.Progress{Note: s})
		}}
	tell(run.Env, x.Granted)
	if len(secrets) > 0 {
		maps.Copy(run.Env, secrets)
		run.Filter = secrets.Redactor
	}
	run.Timeout, _ = c.timeout() // checked
	if run.Binds, err = in.binds(); err != nil {
		return noRoom(err, noRoomHere)
	}
	printed, err := x.Create("stdout")
	if err != nil {
		return err
	}
	stdout := guardOutput(printed, secrets)
	run.Stdout = stdout
	x.Report(step.Progress{Note: argv[0] + " is running"})
	run.Started = func(pid int) error { return x.Runs(dir, pid) }
	within.Start(&run)
	outside := boxed(c, &run, programs, within)
	outside.secrets = secrets
	err = in.run(ctx, run, c.Stdin)
	if left := errors.Join(x.Ended(dir), within.Ended(dir, err)); left != nil && err == nil {
		err = left
	}
	if err = outside.conclude(ctx, x, c, c.withStrays(in.withReadOnly(err), dir)); err != nil {
		return commandError(err)
	}
	if err := in.unchanged(); err != nil {
		return err
	}
	for _, p := range programs {
		if err := p.unchanged(ctx); err != nil {
			return err
		}
	}
	if err := within.Unchanged(ctx); err != nil {
		return step.Permanent(err)
	}
	if _, err := sameLibraries(ctx, x, c, librariesHere); err != nil {
		return err
	}
	return noRoom(errors.Join(stdout.Close(), collectCommand(x, c, dir, secrets)), "the store has no space for its outputs: free some")
}

const noRoomHere = "free space on this worker's disk for a copy of the inputs and what the program writes, or start the worker with TMPDIR on another"

// commandError decides about the retry: a program that says it failed, or cannot start, would do so once more; a
// program that the system ended may fare better.
func commandError(err error) error {
	if step.IsPermanent(err) {
		return err
	}
	passing, says := errors.AsType[interface {
		error
		Passing() bool
	}](err)
	_, late := errors.AsType[*command.TimeoutError](err)
	_, setup := errors.AsType[*isolation.SetupError](err)
	if says && !passing.Passing() || late || setup || errors.Is(err, command.ErrLeftRunning) {
		return step.Permanent(err)
	}
	return noRoom(err, "the store has no space for its standard output: free some")
}

// noRoom marks the error of a full disk, a quota or a limit of file sizes as permanent: a retry would meet it too.
func noRoom(err error, what string) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return step.Permanent(fmt.Errorf("%w: %s", err, what))
	}
	return err
}

func (c commandConfig) environment(dir string) map[string]string {
	env := map[string]string{"TZ": "UTC", "LANG": "C.UTF-8", "SOURCE_DATE_EPOCH": "0", "PYTHONHASHSEED": "0"}
	maps.Copy(env, c.Env)
	env["PATH"], env["HOME"], env["TMPDIR"] = os.Getenv("PATH"), dir, filepath.Join(dir, "tmp")
	if paths := c.searched(dir); paths != "" {
		env["PYTHONPATH"] = paths
	}
	return env
}

// compareRule is a step.Alike of a file, as an author writes it.
type compareRule struct {
	As      string                   `hcl:"as,optional" enum:",numbers,texts,run,vectors,skip" help:"numbers, the default: JSON, or lines of it; texts: words with numbers among them, such as CSV; run: rankings in TREC's format; vectors: .npy; skip: not at all, for what describes the run itself"`
	Abs     float64                  `hcl:"abs,optional" help:"how far two numbers that are no integers may be apart; for vectors, their lengths"`
	Rel     float64                  `hcl:"rel,optional" help:"the same as a fraction of the greater one"`
	Fields  map[string]compareMargin `hcl:"fields,optional" help:"for numbers: margins of fields, integers too, by path: points[].loss, metrics.*"`
	Depth   int                      `hcl:"depth,optional" help:"for a run: how many documents of each ranking are compared; default 10"`
	Overlap float64                  `hcl:"overlap,optional" help:"for a run: least share of them that is in both, on average"`
	Cosine  float64                  `hcl:"cosine,optional" help:"for vectors: least cosine of two rows"`
}

type compareMargin struct {
	Abs  float64 `hcl:"abs,optional" help:"how far two numbers may be apart"`
	Rel  float64 `hcl:"rel,optional" help:"the same as a fraction of the greater one"`
	Skip bool    `hcl:"skip,optional" help:"it is not compared, such as seconds"`
}

func (c compareRule) rule() step.Alike {
	margin := step.Margin{Abs: c.Abs, Rel: c.Rel}
	switch c.As {
	case "skip":
		return step.OfTheRun{}
	case "texts":
		return step.Texts{Margin: margin}
	case "run":
		return step.Runs{Depth: cmp.Or(c.Depth, 10), Overlap: c.Overlap}
	case "vectors":
		return step.Vectors{Margin: margin, Cosine: c.Cosine}
	}
	n := step.Numbers{Margin: margin}
	for at, m := range c.Fields {
		if n.Fields == nil {
			n.Fields = map[string]step.Margin{}
		}
		n.Fields[at] = step.Margin(m)
	}
	return n
}

// check refuses attributes that the way of comparing does not take.
func (c compareRule) check() error {
	for name, bad := range map[string]bool{
		"abs and rel": (c.Abs != 0 || c.Rel != 0) && (c.As == "run" || c.As == "skip"),
		"fields":      len(c.Fields) > 0 && c.As != "" && c.As != "numbers",
		"depth":       c.Depth != 0 && c.As != "run",
		"overlap":     c.Overlap != 0 && c.As != "run",
		"cosine":      c.Cosine != 0 && c.As != "vectors",
	} {
		if bad {
			return fmt.Errorf("as = %q takes no %s", c.As, name)
		}
	}
	return step.CheckAlike(c.rule())
}

// printed is the name in compare of the program's standard output.
const printed = "stdout"

func (c commandConfig) alike() map[string]step.Alike {
	rules, files := map[string]step.Alike{}, step.Files{}
	for name, r := range c.Compare {
		if name == printed {
			rules[printed] = r.rule()
			continue
		}
		files[name] = r.rule()
	}
	if len(files) > 0 {
		rules["out"] = files
	}
	return rules
}

// compareProblems returns the rules that are wrong in themselves or match no output.
func (c commandConfig) compareProblems() (ps step.Problems) {
	for _, name := range slices.Sorted(maps.Keys(c.Compare)) {
		at := fmt.Sprintf("compare[%q]", name)
		if err := c.Compare[name].check(); err != nil {
			inout.CheckError(&ps, at, err)
			continue
		}
		if _, err := path.Match(name, ""); err != nil || name == "" {
			inout.Check(&ps, at, false, "is not a pattern of file names: * and ? stand for parts of names")
			continue
		}
		of := func(output string) bool {
			ok, _ := path.Match(name, output)
			return ok || strings.HasSuffix(output, "/") && strings.HasPrefix(name, output)
		}
		inout.Check(&ps, at, name == printed || slices.ContainsFunc(c.Outputs, of),
			"matches none of outputs, %s, and is not %q", strings.Join(c.Outputs, ", "), printed)
	}
	return ps
}
