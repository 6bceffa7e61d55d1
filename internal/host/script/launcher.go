package script

import (
	"io"
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Launcher returns the interpreter that the script at a path names, a path or a name that env looks up: in its first
// line, or in a shell's first command if that is an exec, as installers of Python's packages write it for paths that do
// not fit into a first line or are relative to the script; without an exec the shell itself, and "" if it is no script.
func Launcher(text, at string) string {
	line, named := strings.CutPrefix(text, "#!")
	line, rest, _ := strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !named || len(words) == 0 {
		return ""
	}
	switch path.Base(words[0]) {
	case "env":
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
				return w
			}
		}
		return ""
	case "sh", "bash", "dash":
		for first, err := range syntax.NewParser().StmtsSeq(strings.NewReader(rest)) {
			if err != nil {
				break
			}
			call, ok := first.Cmd.(*syntax.CallExpr)
			if !ok || len(call.Args) < 2 {
				break
			}
			config := beforehand(rest, at)
			exec, _ := expand.Literal(config, call.Args[0])
			program, err := expand.Literal(config, call.Args[1])
			if err == nil && exec == "exec" && program != "" && program[0] != '-' {
				return program
			}
			break
		}
	}
	return words[0]
}

// beforehand expands words by what a shell knows before it runs anything: the path of its script, as $0, and the folder
// of that.
func beforehand(text, at string) *expand.Config {
	return &expand.Config{
		NoUnset: true,
		Env: expand.FuncEnviron(func(name string) string {
			if name == "0" {
				return at
			}
			return ""
		}),
		CmdSubst: func(w io.Writer, s *syntax.CmdSubst) error {
			asked := text[s.Pos().Offset():s.End().Offset()]
			if !strings.HasPrefix(asked, "$(dirname ") || !strings.Contains(asked, `"$0"`) || at == "" {
				return expand.UnexpectedCommandError{Node: s}
			}
			real, err := filepath.EvalSymlinks(at)
			if err == nil {
				_, err = io.WriteString(w, filepath.Dir(real))
			}
			return err
		},
	}
}
