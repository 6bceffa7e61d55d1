//go:build !linux

package local

import "errors"

// Hold works only on Linux.
func Hold(folder, name string) error { return errors.ErrUnsupported }
