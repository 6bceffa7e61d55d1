package errtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same fails a test that has got another value than it wants.
func Same(t testing.TB, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
