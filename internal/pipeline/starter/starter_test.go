package starter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWrite: a study is written as a whole or not at all, and beside a .gitignore that the
// folder has.
func TestWrite(t *testing.T) {
	for _, study := range []string{Small, Paper} {
		files, err := Files(study)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(t.TempDir(), "new")
		wrote, err := Write(files, folder)
		if err != nil || !slices.Contains(wrote, filepath.Join(folder, "pipelines.hcl")) || !slices.Contains(wrote, filepath.Join(folder, ".gitignore")) {
			t.Errorf("%s: %q, %v", study, wrote, err)
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "b"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(map[string][]byte{"a": nil, "b": nil}, folder); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
