package errtest

import (
	"strings"
	"testing"
)

// None ends a test that has met an error.
func None(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Of is the error of a call that returns a value too.
func Of[T any](_ T, err error) error { return err }

// Says fails a test whose error lacks one of the texts; no error lacks all of them.
func Says(t testing.TB, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error is %v; it must say %q", err, text)
		}
	}
}
