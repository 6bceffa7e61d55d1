// Package python reads Python sources without running them: their tokens, a normal form
// in which comments and layout do not count, what they import, and notebooks of them.
//
// It has the lexical grammar of Python 3 and, of its syntax, the import statements, and no
// more: what else is wrong with a source the interpreter says. No parser of the whole
// language is both kept up with it and written in Go. It must not know what a step is, nor
// open files.
package python
