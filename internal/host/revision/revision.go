// Package revision says which build a program is: redsi and its second program have to be of the same.
package revision

import (
	"runtime/debug"
	"strings"
)

var version = "" // may be set by the linker

// Unknown is the build of a program that recorded none.
const Unknown = "unknown"

// Of returns the commit that this program was built from, as far as the build recorded it.
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

// release and Libtorch, the version that the second program is built against, may be set by the linker.
var (
	release  = ""
	Libtorch = Unknown
)

// Release returns the release of this program, such as "0.1.0", or the next release with ".dev0": from make, which has
// it from the Python package, else from a module that Go fetched.
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

// Build identifies the redsi in a program, also of another module with its own kinds: programs with different builds do
// not work together. It is Unknown if the build recorded nothing.
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
