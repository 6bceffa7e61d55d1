// Package tensortest is what tests of tensors share: Run is a scope whose errors fail the test, and Near compares
// tensors that are computed in another order, or by other operations, which are the same up to rounding.
//
// It must not know what is computed, and only tests may import it.
package tensortest

import (
	"math"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
)

// Near fails a test where an element of got is further from want's than within times want's largest. What is not a
// number is near nothing, and so are tensors of another size. It must be called within Run or tensor.Try.
func Near(t testing.TB, what string, got, want *tensor.Tensor, within float64) {
	t.Helper()
	a, b := got.Float32s(), want.Float32s()
	if len(a) != len(b) {
		t.Fatalf("%s: %s, want %s", what, got, want)
	}
	largest := 0.0
	for _, v := range b {
		largest = max(largest, math.Abs(float64(v)))
	}
	for i := range b {
		if off := math.Abs(float64(a[i]) - float64(b[i])); !(off <= within*largest) {
			t.Fatalf("%s[%d]: %v, want %v", what, i, a[i], b[i])
		}
	}
}

// Run is tensor.Run, whose error ends the test.
func Run(t testing.TB, f func(*tensor.Scope)) {
	t.Helper()
	if err := tensor.Run(f); err != nil {
		t.Fatal(err)
	}
}
