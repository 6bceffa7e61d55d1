package revision

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Wheel says from which wheel this program was installed, by pip or the like: its version, and the
// environment's folder. They are "" if it was not.
func Wheel() (version, environment string) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self) // uv has links to the programs of its tools
	}
	if err != nil {
		return "", ""
	}
	return wheelOf(self)
}

// wheelOf reads where a program in an environment's folder for programs has its wheel's metadata,
// also below pip's --target and in a system's own Python.
func wheelOf(program string) (version, environment string) {
	environment = filepath.Dir(filepath.Dir(program))
	if version = Installed(environment, "redsi"); version == "" {
		return "", ""
	}
	return version, environment
}

// Installed is the version of a distribution in an environment's folder, "" if there is none.
func Installed(environment, distribution string) string {
	for _, place := range []string{"lib/python*/site-packages", "lib/python*/dist-packages", "Lib/site-packages", "."} {
		found, _ := filepath.Glob(filepath.Join(environment, place, distribution+"-*.dist-info")) // none: of a path with letters of patterns
		if len(found) > 0 {
			name := filepath.Base(found[len(found)-1])
			return strings.TrimSuffix(strings.TrimPrefix(name, distribution+"-"), ".dist-info")
		}
	}
	return ""
}

// Pip is the command that installs something of this program's release beside it, "redsi[models]"
// for example.
func Pip(what string) string {
	version, environment := Wheel()
	return fmt.Sprintf("pip install '%s==%s' in %s", what, version, environment)
}
