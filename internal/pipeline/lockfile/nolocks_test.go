package lockfile

import (
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/nolocks"
)

// A project may lie where there are no locks.
func TestWithoutLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	nolocks.Do(t, func() {
		id, err := Project(path)
		f, rerr := Read(path)
		if err != nil || rerr != nil || id == "" || f.Project != id {
			t.Error(id, err, rerr)
		}
	})
}
