package starter

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// TestWrite: a study is written as a whole or not at all, and beside a .gitignore that the
// folder has.
func TestWrite(t *testing.T) {
	for _, study := range []string{Small, Paper} {
		files, err := Files(study)
		errtest.None(t, err)
		folder := filepath.Join(t.TempDir(), "new")
		wrote, err := Write(files, folder)
		if err != nil || !slices.Contains(wrote, filepath.Join(folder, "pipelines.hcl")) || !slices.Contains(wrote, filepath.Join(folder, ".gitignore")) {
			t.Errorf("%s: %q, %v", study, wrote, err)
		}
	}
	folder := t.TempDir()
	filetest.Write(t, filepath.Join(folder, "b"), "")
	errtest.Says(t, errtest.Of(Write(map[string][]byte{"a": nil, "b": nil}, folder)), "already exists")
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
