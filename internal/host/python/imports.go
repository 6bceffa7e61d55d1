package python

import (
	"regexp"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Import is a statement, or a call of import_module or __import__, that imports a module.
type Import struct {
	Level  int      // dots in front of the module
	Module string   // "" in "from . import x"
	Names  []string // after import: in a package each may be a module, too
	Star   bool     // from … import *
}

// Statements, with a space between tokens.
var (
	importLine = regexp.MustCompile(`^import (` + module + as + `(?: , ` + module + as + `)*)$`)
	fromLine   = regexp.MustCompile(`^from ([. ]*)(` + module + `)? ?import (?:(\*)|(?:\( )?(` + name + as + `(?: , ` + name + as + `)*)(?: ,)?(?: \))?)$`)
)

const (
	name   = `[\pL_\x{80}-\x{10ffff}][\w\x{80}-\x{10ffff}]*`
	module = name + `(?: \. ` + name + `)*`
	as     = `(?: as ` + name + `)?`
)

// literal is a plain string, such as the name of a module.
var literal = regexp.MustCompile(`^[rRuU]?["']+([^"'\\\n]*)["']+$`)

// Imports lists what a source imports, wherever it does, and the names that __all__ has.
func Imports(text string) (list []Import, all []string, err error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, nil, err
	}
	return importsIn(tokens)
}

func importsIn(tokens []token) (list []Import, all []string, err error) {
	for i, t := range tokens {
		switch begins := t.first || i > 0 && (tokens[i-1].text == ";" || tokens[i-1].text == ":"); {
		case begins && (t.text == "import" || t.text == "from"):
			found, ok := parse(statement(tokens[i:]))
			if !ok {
				return nil, nil, syntaxError{t.line, "this is no import statement of Python: " + strings.Join(statement(tokens[i:]), " ")}
			}
			list = append(list, found...)
		case t.text == "import_module" || t.text == "__import__":
			if words := statement(tokens[i:]); len(words) > 2 && words[1] == "(" {
				if m := literal.FindStringSubmatch(words[2]); m != nil {
					module := strings.TrimLeft(m[1], ".")
					list = append(list, Import{Level: len(m[1]) - len(module), Module: module})
				}
			}
		case begins && t.text == "__all__":
			for _, word := range statement(tokens[i:]) {
				if m := literal.FindStringSubmatch(word); m != nil {
					all = append(all, m[1])
				}
			}
		}
	}
	return list, all, nil
}

// statement returns the tokens up to the end of a statement.
func statement(tokens []token) (words []string) {
	for _, t := range tokens {
		if t.text == "\n" || t.text == ";" {
			break
		}
		words = append(words, t.text)
	}
	return words
}

func parse(words []string) ([]Import, bool) {
	line := strings.Join(words, " ")
	if m := importLine.FindStringSubmatch(line); m != nil {
		return lists.Map(imported(m[1]), func(module string) Import { return Import{Module: module} }), true
	}
	m := fromLine.FindStringSubmatch(line)
	if m == nil {
		return nil, false
	}
	return []Import{{Level: strings.Count(m[1], "."), Module: strings.ReplaceAll(m[2], " ", ""), Star: m[3] != "", Names: imported(m[4])}}, true
}

// imported returns the names in a list, without their aliases.
func imported(list string) (names []string) {
	if list == "" {
		return nil
	}
	for part := range strings.SplitSeq(list, " , ") {
		part, _, _ = strings.Cut(part, " as ")
		names = append(names, strings.ReplaceAll(part, " ", ""))
	}
	return names
}
