package scratch_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/system/nolocks"
)

func TestWithoutLocks(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	nolocks.Do(t, func() {
		if _, err := scratch.In(root).New(); err == nil || !strings.Contains(err.Error(), root+" has no file locks") || !strings.Contains(err.Error(), "TMPDIR") {
			t.Error(err)
		}
	})
}
