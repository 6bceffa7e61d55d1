//go:build !linux || !cgo

package cudalib

import "errors"

var errNone = errors.New("there is no CUDA for this system")

func loaded(string) string { return "" }

func open(string) error { return errNone }

func number(string, string) (value, status int, err error) { return 0, 0, errNone }

func text(string, string, int) string { return "" }
