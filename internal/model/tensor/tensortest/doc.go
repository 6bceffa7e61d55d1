// Package near compares tensors in tests: those that are computed in another order, or by other
// operations, are the same up to rounding.
//
// It must not know what is compared, and only tests may import it.
package near
