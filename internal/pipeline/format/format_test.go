package format

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestReplace: a file is replaced by its formatted text with its permissions, unless it has changed since.
func TestReplace(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipelines.hcl")
	testkit.None(t, os.WriteFile(name, []byte("locals {\na=1\n}\n"), 0o600))
	files, err := Unformatted([]string{name}, false)
	if err != nil || len(files) != 1 || string(files[0].Is) != "locals {\n  a = 1\n}\n" {
		t.Fatalf("%q, %v", files, err)
	}
	for range 2 { // another one may have been first
		testkit.None(t, files[0].Replace())
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	testkit.Write(t, name, "locals {\n}\n")
	if files[0].Replace() == nil {
		t.Error("an edit was lost")
	}
	if files, err := Unformatted([]string{name}, false); err != nil || files != nil {
		t.Errorf("%q, %v", files, err)
	}
}
