// Package python reads Python sources and notebooks without running them: their tokens, a normal form in which comments
// and layout do not count, and what they import.
//
// It has only the lexical grammar of Python 3 and the syntax of import statements: the interpreter tells what else is
// wrong with a source. No Go parser of the whole language keeps up with it. It must not know steps, nor open files.
package python
