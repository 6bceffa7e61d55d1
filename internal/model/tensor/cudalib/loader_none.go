//go:build !linux || !cgo

package cudalib

import "errors"

var loader system = none{}

// none is a system without CUDA.
type none struct{}

func (none) loaded(string) string { return "" }

func (none) open(string) error { return errors.New("there is no CUDA for this system") }

func (none) number(string, string) (value, status int, err error) {
	return 0, 0, errors.New("there is no CUDA for this system")
}

func (none) text(string, string, int) string { return "" }
