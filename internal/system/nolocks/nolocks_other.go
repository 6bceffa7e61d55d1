//go:build !linux

package nolocks

import "testing"

// Do needs Linux.
func Do(t *testing.T, _ func()) { t.Skip("only Linux refuses a thread its locks") }
