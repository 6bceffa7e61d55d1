package compute

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestFind: the program is where the environment says, beside this one, or in lib.
func TestFind(t *testing.T) {
	t.Setenv(Variable, "")
	self, err := filepath.EvalSymlinks(os.Args[0])
	testkit.None(t, err)
	testkit.Is(t, Find(), filepath.Join(filepath.Dir(self), Name))
	t.Setenv(Variable, "/elsewhere/models")
	testkit.Is(t, Find(), "/elsewhere/models")
}
