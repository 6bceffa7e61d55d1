package compute

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// TestFind: the program is where the environment says, beside this one, or in lib.
func TestFind(t *testing.T) {
	t.Setenv(Variable, "")
	self, err := filepath.EvalSymlinks(os.Args[0])
	errtest.None(t, err)
	if got := Find(); got != filepath.Join(filepath.Dir(self), Name) {
		t.Error(got)
	}
	t.Setenv(Variable, "/elsewhere/models")
	if got := Find(); got != "/elsewhere/models" {
		t.Error(got)
	}
}
