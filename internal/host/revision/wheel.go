package revision

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

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

// pip looks for metadata of redsi's wheel around the program, also below pip's --target and in a system's own Python.
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
