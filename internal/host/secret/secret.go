// Package secret finds the values of secrets where a program is started, and keeps them out of the program's output and
// results. Everywhere else a secret is a name: of an environment variable, a file, or a sensitive variable of the
// pipeline. The package must not know steps or stores.
package secret

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Sources of secrets.
const (
	envSource  = "env:"
	fileSource = "file:"
	varSource  = "var:"
)

// VarPrefix begins the name of the environment variable with a sensitive variable's value, for workers not given it.
const VarPrefix = "REDSI_VAR_"

// Variable returns the source for a sensitive variable.
func Variable(name string) string { return varSource + name }

// CheckSource refuses invalid sources of secrets.
func CheckSource(source string) error {
	kind, name, _ := strings.Cut(source, ":")
	switch {
	case (kind+":" == envSource || kind+":" == varSource) && name != "" && !strings.ContainsAny(name, "=\x00"):
		return nil
	case kind+":" == fileSource && filepath.IsAbs(name) && !strings.Contains(name, "\x00"):
		return nil
	}
	return errors.New(`is not a source of a secret: want "env:NAME", "file:/PATH" or a sensitive variable`)
}

// Bounds of a value. A shorter value would be found everywhere, so that it could not be kept out of anything.
const (
	minValue = 6
	maxValue = 64 << 10
	minLine  = 16
	ends     = "\r\n" // around a value, without which it may be printed
)

// Finder finds values on one machine.
type Finder struct {
	Vars map[string]string // sensitive variables given to this process
}

// Value returns the value of a secret. Errors never contain it, or a part of it.
func (f Finder) Value(source string) (string, error) {
	if err := CheckSource(source); err != nil {
		return "", err
	}
	kind, name, _ := strings.Cut(source, ":")
	var v string
	var ok bool
	switch kind + ":" {
	case envSource:
		if v, ok = os.LookupEnv(name); !ok {
			return "", fmt.Errorf("this worker has no environment variable %s: set it where the worker is started", name)
		}
	case varSource:
		if v, ok = f.Vars[name]; !ok {
			if v, ok = os.LookupEnv(VarPrefix + name); !ok {
				return "", fmt.Errorf("this worker was not given var.%s: set %s%s in the environment of every worker", name, VarPrefix, name)
			}
		}
	default:
		b, err := readSecret(name)
		if err != nil {
			return "", err
		}
		v = strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	}
	switch {
	case len(strings.Trim(v, ends)) < minValue:
		return "", fmt.Errorf("the value of %s has %d bytes; with fewer than %d it cannot be told from other text", source, len(strings.Trim(v, ends)), minValue)
	case len(v) > maxValue:
		return "", fmt.Errorf("the value of %s has more than %d bytes", source, maxValue)
	case strings.Contains(v, "\x00"):
		return "", fmt.Errorf("the value of %s has a NUL byte, which environment variables cannot hold", source)
	}
	return v, nil
}

func readSecret(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("on this worker: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxValue+3))
}

// Values finds the values of several secrets, by name.
func (f Finder) Values(sources map[string]string) (Set, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	s := make(Set, len(sources))
	var errs []error
	for name, source := range sources {
		v, err := f.Value(source)
		if err != nil {
			errs = append(errs, fmt.Errorf("secret %s: %w", name, err))
		}
		s[name] = v
	}
	return s, errors.Join(errs...)
}

// Set is the values of secrets by name.
type Set map[string]string

// pattern is a text that reveals a secret.
type pattern struct{ name, text string }

// patterns returns the values, and each long line of a value, as many are printed by line. Longer patterns come first.
func (s Set) patterns() []pattern {
	var ps []pattern
	for name, v := range s {
		v = strings.Trim(v, ends)
		ps = append(ps, pattern{name, v})
		if lines := strings.Split(v, "\n"); len(lines) > 1 {
			for _, line := range lines {
				if line = strings.TrimRight(line, "\r"); len(line) >= minLine && !strings.HasPrefix(line, "-----") {
					ps = append(ps, pattern{name, line})
				}
			}
		}
	}
	slices.SortFunc(ps, func(a, b pattern) int {
		return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.name, b.name))
	})
	return ps
}
