// Package revision says which build a program is: redsi and its second program are of one.
package revision

import (
	"runtime/debug"
	"strings"
)

var version = "" // may be set by the linker

// Unknown is the build of a program that recorded none.
const Unknown = "unknown"

// Of is the commit that this program was built from, as far as the build recorded it.
func Of() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Unknown
	}
	rev, dirty := Unknown, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return rev + dirty
}

// release may be set by the linker, and Libtorch, which the second program is built against.
var (
	release  = ""
	Libtorch = Unknown
)

// Release is the release that this program is of, "0.1.0" for example, or the next one's with
// ".dev0": what make has from the Python package, else the version of a module that Go fetched.
func Release() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if v, tag := strings.CutPrefix(m.Version, "v"); tag && m.Path == module && !strings.Contains(v, "-") {
				return v
			}
		}
	}
	return Unknown
}

const module = "github.com/redsi/redsi"

// Build is which redsi a program is, also one of another module with kinds of its own: two of
// different builds do not work together. "unknown" where the build recorded nothing.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if version != "" || !ok || info.Main.Path == module {
		return Of()
	}
	for _, d := range info.Deps {
		if d.Path == module && d.Replace == nil {
			return d.Version
		}
	}
	return Unknown
}
