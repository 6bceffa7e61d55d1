package general

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/host/script"
)

// launchers start programs with what is installed elsewhere, by these of their verbs; without a
// verb, always.
var launchers = map[string][]string{
	"uv": {"run", "tool"}, "uvx": nil, "pipx": {"run"}, "poetry": {"run"}, "pdm": {"run"}, "hatch": {"run", "test"}, "pipenv": {"run"}, "rye": {"run"},
	"conda": {"run"}, "mamba": {"run"}, "micromamba": {"run"}, "pixi": {"run", "r", "exec"}, "mise": {"exec", "x", "run"}, "asdf": {"exec"}, "pyenv": {"exec"},
	"docker": {"run", "exec"}, "podman": {"run", "exec"}, "apptainer": {"run", "exec"}, "singularity": {"run", "exec"},
	"nix": {"run", "shell", "develop"}, "nix-shell": nil, "npx": nil, "npm": {"run", "exec"}, "bundle": {"exec"},
}

// unkeyed names what the step's programs load that its key does not have: packages that a launcher
// such as `uv run` finds, and those of interpreters of which only the file counts.
func (c commandConfig) unkeyed() (list []string) {
	line := c.line()
	if !c.ProgramLibraries || len(line) == 0 {
		return nil
	}
	add := func(what string) {
		if what != "" && !slices.Contains(list, what) {
			list = append(list, what)
		}
	}
	for i, name := range append([]string{line[0]}, c.Programs...) {
		starts := []string{name}
		if own, ok := strings.CutPrefix(name, "./"); ok {
			l := script.Launch(c.Files[own], "")
			starts = append([]string{l.Interpreter}, strings.Fields(l.Options)...)
		} else if i == 0 {
			starts = line
		}
		switch what := launched(starts); {
		case i == 0 && c.within(name):
		case what != "":
			add(what)
		default:
			add(unknown(starts[0]))
		}
	}
	for _, called := range c.commands() {
		name := called[0]
		if c.brings(name) {
			continue
		}
		add(launched(called))
		if language := libraries.Language(name); language != "" && !slices.Contains(c.Programs, name) {
			add("packages of " + language + " (its script calls " + name + ": name it in programs)")
		}
	}
	return list
}

// unknowns remembers what unknown says, by path: a plan may start one program thousands of times.
var unknowns sync.Map

// unknown says which packages a program loads of which nothing is known here.
func unknown(name string) string {
	at, err := command.Find(name)
	if err != nil {
		if language := libraries.Language(name); language != "Python" && language != "" {
			return "packages of " + language
		}
		return "" // of Python's, the machine that plans it knows
	}
	what, ok := unknowns.Load(at)
	if !ok {
		what, _ = unknowns.LoadOrStore(at, libraries.Unknown(at, command.Find))
	}
	return what.(string)
}

// launched says what a command line starts by a launcher; "" if its program is none.
func launched(line []string) string {
	name := path.Base(line[0])
	verbs, ok := launchers[name]
	if !ok {
		return ""
	}
	if len(verbs) == 0 {
		return "packages behind `" + name + "`"
	}
	for _, verb := range line[1:] {
		if slices.Contains(verbs, verb) {
			return fmt.Sprintf("packages behind `%s %s`", name, verb)
		}
	}
	return ""
}

// commands are the calls of a step that runs a shell script.
func (c commandConfig) commands() [][]string {
	line, text := c.line(), c.Script
	if text == "" {
		text, _ = script.Inline(line)
	}
	if !slices.Contains(shells, path.Base(line[0])) {
		return nil
	}
	if text == "" && c.code != nil && c.unpack() == nil {
		text = c.Files[c.code.Script]
	}
	shell, err := script.Parse(line, text)
	if err != nil || shell == nil {
		return nil
	}
	return shell.Commands()
}
