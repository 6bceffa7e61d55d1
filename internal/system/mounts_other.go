//go:build !linux

package system

// FileSystem is not known.
func FileSystem(string) (kind, options string) { return "", "" }
