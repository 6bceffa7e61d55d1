package script

import (
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Launcher is how a script begins.
type Launcher struct {
	Interpreter string // what runs it: a path, or a name that env looks up; "" if none is named
	Options     string // what else the lines say that name it
	Rest        string // the text after them
}

// Launch reads how the script at a path begins: with a first line that names an interpreter, or
// with a shell's first command that hands over to one by exec, as installers of Python's
// packages write it where a path does not fit into a first line or is relative to the script.
func Launch(text, at string) (l Launcher) {
	line, named := strings.CutPrefix(text, "#!")
	if !named {
		return l
	}
	line, rest, _ := strings.Cut(line, "\n")
	words := strings.Fields(line)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		first := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") })
		words = words[1+max(first, -1):]
		if first < 0 {
			words = nil
		}
	}
	if len(words) == 0 {
		return l
	}
	if slices.Contains([]string{"sh", "bash", "dash", "ash"}, path.Base(words[0])) {
		if to, ok := handsOver(rest, at); ok {
			return to
		}
	}
	return Launcher{words[0], strings.Join(words[1:], " "), rest}
}

// What a text that is both a shell's and Python's has around the interpreter, and after that.
const (
	both   = `'''exec'  "$0" "$@"`
	behind = "' '''\n"
)

// handsOver reads the first command of a shell script; ok is false if it is no exec of a program
// that is known before it runs.
func handsOver(text, at string) (l Launcher, ok bool) {
	for first, err := range syntax.NewParser().StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			return l, false
		}
		call, is := first.Cmd.(*syntax.CallExpr)
		if !is || len(call.Args) < 2 || first.Background || first.Negated {
			return l, false
		}
		known, program := beforehand(at), call.Args[1]
		name, err := expand.Literal(known, call.Args[0])
		if l.Interpreter, _ = expand.Literal(known, program); err != nil || name != "exec" || l.Interpreter == "" || l.Interpreter[0] == '-' {
			return l, false
		}
		from, to, end := first.Pos().Offset(), program.Pos().Offset(), first.End().Offset()
		l.Options, l.Rest = text[from:to]+text[program.End().Offset():end], strings.TrimPrefix(text[end:], "\n")
		if rest, python := strings.CutPrefix(l.Rest, behind); python && l.Options == both {
			l.Options, l.Rest = "", rest
		}
		return l, true
	}
	return l, false
}

// beforehand is what a shell knows before it runs anything: the path of its script, and what
// dirname, realpath and readlink make of it.
func beforehand(at string) *expand.Config {
	known := &expand.Config{NoUnset: true}
	known.Env = expand.FuncEnviron(func(name string) string {
		if name == "0" {
			return at
		}
		return ""
	})
	known.CmdSubst = func(w io.Writer, s *syntax.CmdSubst) error {
		var words []string
		for _, stmt := range s.Stmts {
			if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(s.Stmts) == 1 {
				for _, arg := range call.Args {
					word, err := expand.Literal(beforehand(at), arg) // known is in use
					if err != nil {
						return err
					}
					words = append(words, word)
				}
			}
		}
		var of string
		var err error
		switch program := strings.Join(words[:min(1, len(words))], ""); program {
		case "dirname":
			of = filepath.Dir(words[len(words)-1])
		case "realpath", "readlink":
			of, err = filepath.EvalSymlinks(words[len(words)-1])
		default:
			err = expand.UnexpectedCommandError{Node: s}
		}
		_, werr := io.WriteString(w, of)
		return errors.Join(err, werr)
	}
	return known
}
