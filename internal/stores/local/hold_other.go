//go:build !linux

package local

import "errors"

// Hold is of Linux alone.
func Hold(folder, name string) error { return errors.ErrUnsupported }
