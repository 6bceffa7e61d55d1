// Package python knows which release of redsi this tree is: the version of its Python package,
// the one place where that stands.
package python

import (
	_ "embed"
	"strings"
)

//go:embed redsi/__init__.py
var source string

// Release is the release that this is, "0.1.0" for example, or the next one's with ".dev0".
func Release() string {
	_, after, _ := strings.Cut(source, "\n__version__ = \"")
	release, _, _ := strings.Cut(after, "\"")
	return release
}
