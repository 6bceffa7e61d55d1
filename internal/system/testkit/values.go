package testkit

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Is fails a test whose value is not the wanted value; about names the value or the case if the line does not.
func Is[T comparable](t testing.TB, got, want T, about ...any) {
	t.Helper()
	if got != want {
		t.Error(append(about, "got", text(got), "want", text(want))...)
	}
}

// Deep is Is for lists, maps and structures, with all that they hold; as for reflect.DeepEqual, a nil list is not an empty one.
func Deep[T any](t testing.TB, got, want T, about ...any) {
	t.Helper()
	if d := cmp.Diff(want, got, everyField); d != "" {
		t.Error(append(about, "(-want +got)\n"+d)...)
	}
}

// everyField lets unexported fields be compared, too.
var everyField = cmp.Exporter(func(reflect.Type) bool { return true })

// Of is Is for a call that also returns an error, which must be nil:
//
//	testkit.Of(t, want)(call())
func Of[T comparable](t testing.TB, want T, about ...any) func(got T, err error) {
	return func(got T, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Error(append(about, "got", text(got), err, "want", text(want))...)
		}
	}
}

// Says fails a test whose text lacks one of the parts.
func Says(t testing.TB, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("got %s, which must say %q", text(got), part)
		}
	}
}

// text writes a value in a failure: a text of one line is quoted, a longer text stands as it is.
func text(v any) string {
	if s, ok := v.(string); ok && !strings.Contains(s, "\n") {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%+v", v)
}

// That fails a test if what it needs does not hold; about has the words and values that tell why.
func That(t testing.TB, holds bool, about ...any) {
	t.Helper()
	if !holds {
		t.Error(about...)
	}
}
