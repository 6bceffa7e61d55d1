package revision

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Program is this program's file, "" if that is not known. uv has links to the programs of its tools.
func Program() string {
	self, _ := os.Executable()
	if real, err := filepath.EvalSymlinks(self); err == nil {
		return real
	}
	return self
}

// Pip is the command that installs a wheel of this program's version beside it, "redsi_models"
// for example; "" if this program was not installed by pip or the like.
func Pip(wheel string) string { return pip(Program(), wheel) }

// pip looks for a wheel's metadata where an environment with that program has it, also below pip's
// --target and in a system's own Python.
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
