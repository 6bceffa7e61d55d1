package general

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// scriptFile is the file of script in the working folder: interpreters such as Python look for modules beside it.
const scriptFile = "script"

// line returns the command line: argv, or the interpreter of the script with its file; nil where both are wrong.
func (c commandConfig) line() []string {
	if c.Script == "" {
		return c.Argv
	}
	interpreter, err := script.Interpreter(c.Script)
	if err != nil {
		return nil
	}
	return append(slices.Clone(interpreter), scriptFile)
}

// carriageReturns says what is wrong with a script for which script.Returns is true.
const carriageReturns = `its lines end in carriage returns, as on Windows, and what runs it takes them for parts of words: save it with the line ends of Unix; in git, a line "* text=auto eol=lf" of .gitattributes keeps them`

func checkScript(ps *step.Problems, c commandConfig) {
	interpreter, err := script.Interpreter(c.Script)
	if err == nil {
		_, err = script.Parse(interpreter, c.Script)
	}
	inout.CheckError(ps, "script", err)
	inout.Check(ps, "script", !script.Returns("", c.Script, false), carriageReturns)
	inout.Check(ps, "script", len(c.Argv) == 0, "is given together with argv: give one of them")
	inout.Check(ps, "files", !c.has(scriptFile), "%q is the name that the text of script has in the folder", scriptFile)
}

// elsewhere reports whether an argument looks like a file, but is neither in files nor in a folder of the step.
func (c commandConfig) elsewhere(i int, arg string) bool {
	name := path.Clean(arg)
	top, _, _ := strings.Cut(name, "/")
	return i > 0 && fileLike.MatchString(arg) && !path.IsAbs(arg) && !c.has(name) && !slices.Contains([]string{"in", "out", "tmp"}, top)
}

var fileLike = regexp.MustCompile(`^[\w./][\w./-]*\.[A-Za-z]\w*$`)

// withStrays adds to a program's failure which files its arguments name that are not in its folder.
func (c commandConfig) withStrays(err error, dir string) error {
	exit, ok := errors.AsType[*command.ExitError](err)
	if !ok {
		return err
	}
	for _, name := range c.Outputs {
		if top, _, in := strings.Cut(name, "/"); in && strings.Contains(exit.Tail, top) && strings.Contains(strings.ToLower(exit.Tail), syscall.EEXIST.Error()) {
			err = fmt.Errorf("%w\nThe folders of its outputs are there when it starts: let it take one that exists (os.makedirs(…, exist_ok=True), mkdir -p)", err)
			break
		}
	}
	if c.code != nil {
		return c.missed(err, dir)
	}
	for i, arg := range c.Argv {
		if !c.elsewhere(i, arg) {
			continue
		}
		if _, gone := os.Stat(filepath.Join(dir, filepath.FromSlash(arg))); gone != nil {
			err = fmt.Errorf("%w\nargv[%d] is %s, and there is no such file: it starts in a folder of its own, which has only files, inputs and lists", err, i, arg)
		}
	}
	return err
}

// lint warns of failures that a shell hides and of programs that no key has.
func (c commandConfig) lint() (ps []step.Problem) {
	line, text, at := c.line(), c.Script, "script"
	if text == "" {
		if text, _ = script.Inline(line); text == "" {
			return nil
		}
		at = "argv"
	}
	shell, err := script.Parse(line, text)
	if err != nil || shell == nil {
		return nil // sh reports the mistakes of a text that follows -c
	}
	way := "write the text as script, which bash -euo pipefail then runs"
	if at == "script" {
		way = "leave out the first line, and bash -euo pipefail runs it"
	}
	return c.lintShell(shell, line[0], at, way)
}

// lintShell warns of what a shell script hides; way says how to see a failure within a pipe.
func (c commandConfig) lintShell(shell *script.Shell, interpreter, at, way string) (ps []step.Problem) {
	if n := shell.HiddenFailure(); n > 0 {
		ps = append(ps, step.Problem{Path: at, Detail: fmt.Sprintf("the pipe in line %d succeeds if its last command does, even if those before it fail; %s", n, way)})
	}
	for _, name := range shell.Calls() {
		if c.has(name) {
			ps = append(ps, step.Problem{Path: at, Detail: fmt.Sprintf("it calls %s from PATH, and files has that name: write ./%s", name, name)})
		} else if name != interpreter && !slices.Contains(c.Programs, name) && !c.brings(name) {
			ps = append(ps, step.Problem{Path: at, Detail: fmt.Sprintf("it calls %s, and a change of its version goes unnoticed; name it: programs = [%q]", name, name)})
		}
	}
	return ps
}

// Programs that start others with what is installed elsewhere: by a verb, and as all that they do.
const (
	launchers     = "uv|poetry|pdm|hatch|pipenv|rye|pipx|conda|mamba|micromamba|pixi|nix|npm|yarn|pnpm|docker|podman|apptainer|singularity|mise|asdf|bundle|guix"
	onlyLaunchers = "uvx|npx|tox|nox|nix-shell"
)

var launcher = regexp.MustCompile(`(?:^|[\s;&|(/])(?:(` + launchers + `)` +
	`[ \t](?:-\S*[ \t]+(?:[^-\s]\S*[ \t]+)?)*(?:(?:tool|compose)[ \t]+)?(run|exec|start|develop|shell|r)|(` + onlyLaunchers + `))(?:\s|$)`)

var launcherNames = strings.Split(launchers+"|"+onlyLaunchers, "|")

// unkeyed names what the step's programs load that its key does not have: packages that a launcher such as `uv run`
// finds, and packages of interpreters that count by their file only.
func (c commandConfig) unkeyed() (list []string) {
	first := c.line()
	line := script.Started(first)
	if !c.ProgramLibraries || len(line) == 0 {
		return nil
	}
	if len(line) < len(first) && !slices.Contains(c.Programs, line[0]) && !c.within(first[0]) && libraries.Python(line[0], command.Find) {
		list = append(list, "packages behind `"+path.Base(line[0])+"`")
	}
	for i, name := range append([]string{line[0]}, c.Programs...) {
		words := []string{name}
		if own, ok := strings.CutPrefix(name, "./"); ok {
			words, _ = script.Interpreter(c.Files[own])
		} else if i == 0 {
			words = line
		}
		if len(words) > 0 && (i > 0 || !c.within(name)) {
			list = append(launched(list, strings.Join(words, " "), path.Base(words[0])), unknown(words[0]))
		}
	}
	text := c.Script
	if text == "" {
		text, _ = script.Inline(line)
	}
	if c.code != nil && slices.Contains(shells, path.Base(line[0])) && c.unpack() == nil {
		text = c.Files[c.code.Script]
	}
	if shell, err := script.Parse(line, text); err == nil && shell != nil {
		calls := slices.DeleteFunc(shell.Calls(), c.brings)
		list = launched(list, text, calls...)
		for _, name := range calls {
			if named := slices.Contains(c.Programs, name); !named && libraries.Python(name, command.Find) {
				list = append(list, "packages behind `"+path.Base(name)+"`")
			} else if !named && libraries.Language(name) != "" {
				list = append(list, unknown(name))
			}
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(what string) bool { return what == "" })
}

// launched adds what a text starts by those of the programs it calls that are launchers.
func launched(list []string, text string, calls ...string) []string {
	if !strings.Contains(text, " -m ") && !slices.ContainsFunc(calls, func(name string) bool { return slices.Contains(launcherNames, name) }) {
		return list // without the search, which takes long
	}
	for _, m := range launcher.FindAllStringSubmatch(text, -1) {
		if name := m[1] + m[3]; slices.Contains(calls, name) || strings.Contains(text, " -m "+name+" ") {
			list = append(list, "packages behind `"+strings.TrimSpace(name+" "+m[2])+"`")
		}
	}
	return list
}

// unknowns caches libraries.Unknown by path: a plan may start one program thousands of times.
var unknowns sync.Map

// unknown names the packages of a program that this machine cannot list; "" if there are none.
func unknown(name string) string {
	at, err := command.Find(name)
	if err != nil && libraries.Language(name) != "" {
		return "packages of " + libraries.Language(name)
	}
	if err != nil {
		return "" // the machine that plans it knows Python's packages
	}
	what, ok := unknowns.Load(at)
	if !ok {
		what, _ = unknowns.LoadOrStore(at, libraries.Unknown(at, command.Find))
	}
	return what.(string)
}
