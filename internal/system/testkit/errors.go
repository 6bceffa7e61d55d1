// Package testkit judges the errors and values that a test meets, and writes and reads its files. It is only for tests.
package testkit

import (
	"errors"
	"strings"
	"testing"
)

// None ends a test that has met an error; about says where, if the line does not.
func None(t testing.TB, err error, about ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(about, err)...)
	}
}

// Err returns the error of a call that also returns a value.
func Err[T any](_ T, err error) error { return err }

// Value returns the value of a call whose error ends the test: testkit.Value(os.Open(path))(t).
func Value[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		None(t, err)
		return value
	}
}

// ErrSays fails a test whose error lacks one of the texts; no error lacks all of them.
func ErrSays(t testing.TB, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error is %v; it must say %q", err, text)
		}
	}
}

// ErrIs fails a test whose error is not the target, by errors.Is; about names the case.
func ErrIs(t testing.TB, err, target error, about ...any) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Error(append(about, "the error is", err, "and must be", target)...)
	}
}

// Some fails a test that has met no error; about says what passes.
func Some(t testing.TB, err error, about ...any) {
	t.Helper()
	if err == nil {
		t.Error(append(about, "there is no error")...)
	}
}
