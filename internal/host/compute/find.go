package compute

import (
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/host/revision"
)

// Name is the second program's, and Variable the environment's variable that may name
// another one.
const (
	Name     = "redsi-models"
	Variable = "REDSI_MODELS"
)

// Find is where the second program is: where Variable says, beside this one, or in lib
// beside the folder of this one, as in an archive. Where there is none it is the place
// beside this one, which an error names.
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
