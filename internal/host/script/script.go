// Package script reads scripts before they run: the interpreter that the first line names and, in shell scripts, syntax
// errors, the programs that are called, and pipes that hide a failure.
//
// It must not know what a step is, nor run anything.
package script

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/redsi/redsi/internal/system/lists"
)

// Interpreter returns the command line that runs a script, up to the name of its file: the program of a first line such
// as "#!/usr/bin/env python3", with its arguments, which are cut at spaces. Without such a line it is a bash that ends
// at the first command that fails, also within a pipe, and at a variable that is not set.
func Interpreter(text string) ([]string, error) {
	line, named := strings.CutPrefix(text, "#!")
	if !named {
		return []string{"bash", "-euo", "pipefail"}, nil
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		if len(words) > 0 && words[0] == "-S" {
			words = words[1:]
		}
		if len(words) > 0 && (words[0][0] == '-' || strings.Contains(words[0], "=")) {
			return nil, fmt.Errorf("the first line gives env %q: name only the interpreter, such as #!/usr/bin/env python3", words[0])
		}
	}
	if len(words) == 0 {
		return nil, errors.New("the first line names no interpreter after #!")
	}
	return words, nil
}

// Returns reports whether a text has the line ends of Windows and is run by a program that takes their carriage returns
// for parts of words: by a shell, as the ending of its name or its first line says, or by the system, if it is started
// directly. A text without a name is a script.
func Returns(name, text string, started bool) bool {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(first, "\r") {
		return false
	}
	named := strings.HasPrefix(text, "#!")
	words, err := Interpreter(text)
	return started && named || slices.Contains([]string{".sh", ".bash"}, path.Ext(name)) ||
		err == nil && (named || name == "") && slices.Contains([]string{"bash", "sh", "dash", "ash", "ksh", "zsh"}, path.Base(words[0]))
}

// Shell is a shell script, parsed.
type Shell struct {
	file *syntax.File
	safe bool // failures of commands within a pipe are seen
}

var languages = map[string][]syntax.LangVariant{
	"bash": {syntax.LangBash},
	"sh":   {syntax.LangPOSIX, syntax.LangBash}, // it differs from system to system
	"dash": {syntax.LangPOSIX}, "ash": {syntax.LangPOSIX},
}

// parsers are reused: creating a parser takes as long as parsing a short script, and plans have thousands of scripts.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// Parse reads the text that a command line runs, whether the command line names a file after its options or has the text
// itself by -c. It returns nil if the program is not a shell in languages. Errors tell the line.
func Parse(argv []string, text string) (*Shell, error) {
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	var err error
	for _, language := range languages[path.Base(argv[0])] {
		var file *syntax.File
		syntax.Variant(language)(parser)
		if file, err = parser.Parse(strings.NewReader(text), ""); err == nil {
			safe := strings.Contains(text, "pipefail") || slices.Contains(argv, "pipefail")
			return &Shell{file, safe}, nil
		}
	}
	if at, ok := errors.AsType[syntax.ParseError](err); ok {
		return nil, fmt.Errorf("line %d: %s", at.Pos.Line(), at.Text)
	}
	return nil, err
}

// Inline finds the text that a command line such as sh -c TEXT gives to a shell.
func Inline(argv []string) (text string, ok bool) {
	for i, arg := range argv {
		if i > 0 && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c") && i+1 < len(argv) {
			return argv[i+1], true
		}
	}
	return "", false
}

// HiddenFailure returns the line of a pipe whose exit code does not tell the failure of a command before the last; 0 if
// there is none. Commands that only print a text do not fail.
func (s *Shell) HiddenFailure() (line uint) {
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if pipe, ok := n.(*syntax.BinaryCmd); ok && line == 0 && !s.safe &&
			(pipe.Op == syntax.Pipe || pipe.Op == syntax.PipeAll) && !prints(pipe.X) {
			line = pipe.Pos().Line()
		}
		return true
	})
	return line
}

func prints(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && slices.Contains([]string{"echo", "printf"}, call.Args[0].Lit())
}

// Calls lists the programs that commands name literally, in the order of the text and each once, without builtins,
// functions, files of the working folder and everywhere.
func (s *Shell) Calls() (names []string) {
	functions := map[string]bool{}
	syntax.Walk(s.file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			functions[f.Name.Value] = true
		}
		return true
	})
	syntax.Walk(s.file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		name := ""
		if words := Started(lists.Map(call.Args, (*syntax.Word).Lit)); len(words) > 0 {
			name = words[0]
		}
		local := strings.Contains(name, "/") && !path.IsAbs(name)
		if name != "" && !local && !functions[name] && !builtins[name] && !everywhere[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return true
	})
	return names
}

// builtins are the commands that a shell has in itself.
var builtins = set(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs
disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd
printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit
umask unalias unset wait`)

// everywhere has the utilities of POSIX and the GNU coreutils: each system has them, and their versions hardly matter.
var everywhere = set(`arch awk b2sum base32 base64 basename basenc bc cat chgrp chmod chown cksum cmp comm cp csplit
cut date dd df diff dircolors dirname du ed env expand expr factor file find fmt fold getconf grep groups head hostid
iconv id install join link ln locale logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste
patch pathchk pr printenv ps ptx readlink realpath rm rmdir sed seq sh sha1sum sha224sum sha256sum sha384sum sha512sum
shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee time timeout touch tr truncate tsort tty uname
unexpand uniq unlink users uuencode uudecode wc who whoami xargs yes`)

func set(words string) map[string]bool { return lists.Set(strings.Fields(words)) }

// starters run the command in their arguments, after options, numbers and variables.
var starters = set("command env exec mpiexec mpirun nice nohup srun stdbuf time timeout xargs")

// Started returns the part of a command line that begins with the program that env, timeout and the like start, or the
// command line as it is; nil if the program is known only when it runs, as a word that is "" stands for.
func Started(argv []string) []string {
	for i, word := range argv {
		switch {
		case starters[path.Base(word)]:
		case i == 0:
			return argv
		case word == "-n", word == "-np", word == "-i", word == "-k", word == "--", strings.Contains(word, "="), word != "" && word[0] >= '0' && word[0] <= '9':
		case word == "-S" && i+1 < len(argv): // of env, with all words in one
			return Started(append(append(argv[:i:i], strings.Fields(argv[i+1])...), argv[i+2:]...))
		case word == "", word[0] == '-':
			return nil
		default:
			return argv[i:]
		}
	}
	return nil
}
