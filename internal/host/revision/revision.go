// Package revision says which build a program is: redsi and its second program have to be of the same.
package revision

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

// Program returns this program's file, behind links such as uv has to its tools; "" if it is not known.
func Program() string {
	self, _ := os.Executable()
	if real, err := filepath.EvalSymlinks(self); err == nil {
		return real
	}
	return self
}

// Pip returns the command that installs a wheel, such as "redsi_models", of this program's version beside it; "" if this
// program was not installed by pip or the like.
func Pip(wheel string) string { return pip(Program(), wheel) }

// pip looks for the metadata of redsi's wheel where the program's environment has them, also below pip's --target and in
// a system's own Python.
func pip(program, wheel string) string {
	environment := filepath.Dir(filepath.Dir(program))
	for _, place := range []string{"lib*/python*/*-packages", "Lib/site-packages", "."} {
		found, _ := fs.Glob(os.DirFS(environment), path.Join(place, "redsi-*.dist-info")) // the pattern is valid
		for _, f := range found {
			version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "redsi-"), ".dist-info")
			return fmt.Sprintf("pip install %s-%s-*.whl, of make wheel in a clone, in %s", wheel, version, environment)
		}
	}
	return ""
}
