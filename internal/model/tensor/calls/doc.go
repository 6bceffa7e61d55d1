// Package calls tells what libtorch's operators are called with and what they give: for tests, which
// hold calls that only a card can run against libtorch's own account of them.
//
// It must not know which operators redsi calls, nor compute anything.
package calls
