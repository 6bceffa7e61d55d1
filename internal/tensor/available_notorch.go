//go:build notorch

package tensor

import "errors"

// Available says that this build has no libtorch, and how to get one that has.
func Available() error {
	return errors.New("this redsi was built with the tag notorch, without libtorch, and cannot train, embed or decode: " +
		"build the full one with 'make build' (without -tags notorch)")
}
