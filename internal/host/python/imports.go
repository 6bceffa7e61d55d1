package python

import (
	"slices"
	"strings"
)

// Import is a statement, or a call of import_module or __import__, that imports a module.
type Import struct {
	Level  int      // dots in front of the module
	Module string   // "" of "from . import x"
	Names  []string // after import: of a package each may be a module, too
	Star   bool     // from … import *
	Line   int
}

// Imports lists what a source imports, wherever it does, and the names that __all__ has.
// Errors are *SyntaxError.
func Imports(text string) (list []Import, all []string, err error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, nil, err
	}
	return importsIn(tokens)
}

func importsIn(tokens []token) (list []Import, all []string, err error) {
	for i := range tokens {
		r := &statement{tokens: tokens, at: i}
		begins := tokens[i].first || i > 0 && (tokens[i-1].text == ";" || tokens[i-1].text == ":")
		switch word := tokens[i].text; {
		case begins && word == "import":
			list, err = r.importStatement(list)
		case begins && word == "from":
			list, err = r.fromStatement(list)
		case word == "import_module" || word == "__import__":
			list = r.call(list)
		case begins && word == "__all__":
			all = append(all, r.strings()...)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return list, all, nil
}

// statement reads tokens from one on.
type statement struct {
	tokens []token
	at     int
}

func (r *statement) next() string {
	r.at++
	return r.tokens[r.at].text
}

func (r *statement) wrong(what string) error {
	t := r.tokens[r.at]
	if t.text == "\n" {
		return &SyntaxError{t.line, what + " is missing at the end of an import"}
	}
	return &SyntaxError{t.line, what + " is expected in an import, not " + t.text}
}

// dotted reads a.b.c, of which the current token is the first.
func (r *statement) dotted() (string, error) {
	var name strings.Builder
	for {
		if !r.tokens[r.at].isName() {
			return "", r.wrong("a module")
		}
		name.WriteString(r.tokens[r.at].text)
		if r.next() != "." {
			return name.String(), nil
		}
		name.WriteByte('.')
		r.next()
	}
}

// as passes "as NAME".
func (r *statement) as() error {
	if r.tokens[r.at].text != "as" {
		return nil
	}
	if r.next(); !r.tokens[r.at].isName() {
		return r.wrong("a name")
	}
	r.next()
	return nil
}

func (r *statement) importStatement(list []Import) ([]Import, error) {
	line := r.tokens[r.at].line
	for {
		r.next()
		name, err := r.dotted()
		if err == nil {
			err = r.as()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Import{Module: name, Line: line})
		switch r.tokens[r.at].text {
		case ",":
		case "\n", ";":
			return list, nil
		default:
			return nil, r.wrong("the end of the line")
		}
	}
}

func (r *statement) fromStatement(list []Import) ([]Import, error) {
	i := Import{Line: r.tokens[r.at].line}
	for r.next(); strings.Trim(r.tokens[r.at].text, ".") == ""; r.next() {
		i.Level += len(r.tokens[r.at].text)
	}
	if i.Level == 0 || r.tokens[r.at].text != "import" {
		var err error
		if i.Module, err = r.dotted(); err != nil {
			return nil, err
		}
	}
	if r.tokens[r.at].text != "import" {
		return nil, r.wrong("import")
	}
	switch r.next() {
	case "*":
		i.Star = true
		return append(list, i), nil
	case "(":
		r.next()
	}
	for r.tokens[r.at].isName() {
		i.Names = append(i.Names, r.tokens[r.at].text)
		r.next()
		if err := r.as(); err != nil {
			return nil, err
		}
		if r.tokens[r.at].text != "," {
			break
		}
		r.next()
	}
	if len(i.Names) == 0 || !slices.Contains([]string{"\n", ";", ")"}, r.tokens[r.at].text) {
		return nil, r.wrong("a name")
	}
	return append(list, i), nil
}

// call reads import_module("a.b") and __import__("a.b"), if the name is written there.
func (r *statement) call(list []Import) []Import {
	line := r.tokens[r.at].line
	if r.at+2 >= len(r.tokens) || r.next() != "(" {
		return list
	}
	name, ok := literal(r.tokens[r.at+1])
	module := strings.TrimLeft(name, ".")
	if !ok || module == "" {
		return list
	}
	return append(list, Import{Level: len(name) - len(module), Module: module, Line: line})
}

// strings are those of the logical line.
func (r *statement) strings() (list []string) {
	for ; r.tokens[r.at].text != "\n"; r.at++ {
		if s, ok := literal(r.tokens[r.at]); ok {
			list = append(list, s)
		}
	}
	return list
}

// literal is the value of a plain string, such as the name of a module.
func literal(t token) (string, bool) {
	if !t.isString() || strings.ContainsAny(t.text, "\\\n") {
		return "", false
	}
	quote := t.text[len(t.text)-1:]
	prefix, _, _ := strings.Cut(t.text, quote)
	return strings.Trim(t.text[len(prefix):], quote), !strings.ContainsAny(strings.ToLower(prefix), "fbt")
}
