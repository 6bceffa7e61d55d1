//go:build !notorch

package tensor

// Available returns nil: this build has libtorch. Under the build tag notorch it
// returns an error that says how to get a build that has.
func Available() error { return nil }
