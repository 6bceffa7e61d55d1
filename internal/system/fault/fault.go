// Package fault says who can correct an error, the user or somebody else, and with which exit code the program ends for
// it. It must not know what went wrong.
package fault

import (
	"errors"
	"fmt"
)

// Exit codes of every verb.
const (
	CodeOK      = 0
	CodeFailed  = 1 // something went wrong
	CodeInput   = 2 // the user's input is wrong
	CodePending = 3 // plan --detailed-exitcode: there is something to run
)

// coded is an error with an exit code; if err is nil, it has been printed already.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *coded) Unwrap() error { return e.err }

// Input marks an error, if there is one, as the user's to correct.
func Input(err error) error {
	if err == nil {
		return nil
	}
	return &coded{CodeInput, err}
}

// Failed marks an error as not the user's to correct, whatever it wraps.
func Failed(err error) error { return &coded{CodeFailed, err} }

// Printed ends the program with a code, and says nothing more.
func Printed(code int) error { return &coded{code: code} }

// Code returns the exit code of an error. ok says that the error was marked with it: an unmarked error is a failure.
func Code(err error) (code int, ok bool) {
	if err == nil {
		return CodeOK, true
	}
	if e, ok := errors.AsType[*coded](err); ok {
		return e.code, true
	}
	return CodeFailed, false
}

// IsInput reports whether the error is the user's to correct.
func IsInput(err error) bool {
	code, _ := Code(err)
	return code == CodeInput
}

// Silent reports whether the error was printed already.
func Silent(err error) bool {
	e, ok := errors.AsType[*coded](err)
	return ok && e.err == nil
}
