package compute

import (
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/host/revision"
)

// Name is the second program's name, and Variable the environment variable that may name another program.
const (
	Name     = "redsi-models"
	Variable = "REDSI_MODELS"
)

// Find returns the path of the second program: from Variable, beside this program, or in lib beside this program's
// folder, as in an archive. If there is none it is the place beside this program, for an error to name.
func Find() string {
	if named := os.Getenv(Variable); named != "" {
		return named
	}
	self := revision.Program()
	if self == "" {
		return Name
	}
	dir := filepath.Dir(self)
	beside := filepath.Join(dir, Name)
	for _, path := range []string{beside, filepath.Join(dir, "lib", Name), filepath.Join(filepath.Dir(dir), "lib", Name)} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return beside
}
