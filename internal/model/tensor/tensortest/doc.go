// Package tensortest is what tests of tensors share: Run is a scope whose errors fail the test, and Near compares
// tensors that are computed in another order, or by other operations, which are the same up to rounding.
//
// It must not know what is computed, and only tests may import it.
package tensortest
