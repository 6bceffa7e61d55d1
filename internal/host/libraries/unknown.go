package libraries

import (
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/host/script"
)

// languages maps the names of interpreters to languages whose packages are installed apart from the interpreter.
var languages = map[string]string{"R": "R", "Rscript": "R", "julia": "Julia", "node": "Node", "nodejs": "Node", "deno": "Deno", "bun": "Bun",
	"perl": "Perl", "ruby": "Ruby", "php": "PHP", "lua": "Lua", "luajit": "Lua", "octave": "Octave", "racket": "Racket", "guile": "Guile"}

// Language returns the language, such as R, of an interpreter's packages; "" if Of may read them, or there are none.
func Language(name string) string { return languages[filepath.Base(name)] }

// Unknown says which packages a program seems to load that Of cannot read, such as "packages of R"; "" for none.
func Unknown(program string, look Lookup) string {
	p, ok, err := locate(program, look)
	if err != nil || ok && Language(p.Interpreter) != "Julia" { // Julia has its packages elsewhere, in conda too
		return "" // Of returns the error
	}
	text, _ := textOf(program)
	if language := Language(p.Interpreter); language != "" {
		return "packages of " + language
	}
	for _, name := range []string{program, p.Interpreter, script.Launcher(text, program)} {
		if pythonName.MatchString(filepath.Base(name)) || strings.Contains(text, "\n'''exec' ") {
			return "packages behind " + program + ", whose Python is not known"
		}
	}
	return ""
}

// Python reports whether Of can read the Python packages of a program, which is named as to start it.
func Python(program string, look Lookup) bool {
	path, err := look(program)
	if err == nil {
		_, ok, _ := locate(path, look)
		return ok
	}
	return pythonName.MatchString(program)
}
