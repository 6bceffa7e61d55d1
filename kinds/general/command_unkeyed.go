package general

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/host/script"
)

// Programs that start others with what is installed elsewhere: those with a verb for it, and those that do nothing else.
const (
	launchers     = "uv|poetry|pdm|hatch|pipenv|rye|pipx|conda|mamba|micromamba|pixi|nix|npm|yarn|pnpm|docker|podman|apptainer|singularity|mise|asdf|bundle|guix"
	onlyLaunchers = "uvx|npx|tox|nox|nix-shell"
)

// launcher finds their calls.
var launcher = regexp.MustCompile(`(?:^|[\s;&|(/])(?:(` + launchers + `)` +
	`[ \t](?:-\S*[ \t]+(?:[^-\s]\S*[ \t]+)?)*(?:(?:tool|compose)[ \t]+)?(run|exec|start|develop|shell|r)|(` + onlyLaunchers + `))(?:\s|$)`)

var launcherNames = strings.Split(launchers+"|"+onlyLaunchers, "|")

// unkeyed names what the step's programs load that its key does not have: packages that a launcher
// such as `uv run` finds, and those of interpreters of which only the file counts.
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

// launched adds what a text starts by launchers that are among the programs that it calls.
func launched(list []string, text string, calls ...string) []string {
	if !strings.Contains(text, " -m ") && !slices.ContainsFunc(calls, func(name string) bool { return slices.Contains(launcherNames, name) }) {
		return list // without a search, which would take as long as all else
	}
	for _, m := range launcher.FindAllStringSubmatch(text, -1) {
		if name := m[1] + m[3]; slices.Contains(calls, name) || strings.Contains(text, " -m "+name+" ") {
			list = append(list, "packages behind `"+strings.TrimSpace(name+" "+m[2])+"`")
		}
	}
	return list
}

// unknowns has what is unknown by path: a plan may start one program thousands of times.
var unknowns sync.Map

// unknown says which packages a program loads of which nothing is known here.
func unknown(name string) string {
	at, err := command.Find(name)
	if err != nil && libraries.Language(name) != "" {
		return "packages of " + libraries.Language(name)
	}
	if err != nil {
		return "" // of Python's, the machine that plans it knows
	}
	what, ok := unknowns.Load(at)
	if !ok {
		what, _ = unknowns.LoadOrStore(at, libraries.Unknown(at, command.Find))
	}
	return what.(string)
}
