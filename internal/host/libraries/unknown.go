package libraries

import (
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/host/script"
)

const python = "Python"

// languages have packages that are installed apart from their interpreters, whose names these are.
var languages = map[string]string{"R": "R", "Rscript": "R", "julia": "Julia", "node": "Node", "nodejs": "Node", "deno": "Deno", "bun": "Bun",
	"perl": "Perl", "ruby": "Ruby", "php": "PHP", "lua": "Lua", "luajit": "Lua", "octave": "Octave", "racket": "Racket", "guile": "Guile"}

// Language is the language of an interpreter by its name, such as Python of python3.11; "" of
// another program.
func Language(program string) string {
	name := filepath.Base(program)
	if pythonName.MatchString(name) {
		return python
	}
	return languages[name]
}

// Unknown says which packages a program loads of which Of knows nothing, such as "packages of R";
// "" if Of knows them, or if the program seems to load none.
func Unknown(program string, look Lookup) string {
	if _, ok, err := locate(program, look); ok || err != nil {
		return "" // Of tells the error
	}
	interpreter, _ := interpreterOf(program, look)
	text, _ := launched(program)
	begins := text[:min(len(text), maxLauncher)]
	language := Language(interpreter)
	switch {
	case language != "" && language != python:
		return "packages of " + language
	case language == python, Language(program) == python, strings.Contains(begins, "\n'''exec' "),
		interpreter == "" && Language(script.Launch(begins, program).Interpreter) == python:
		return "packages behind " + program + ", whose Python is not known"
	}
	return ""
}
