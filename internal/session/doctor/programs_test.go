package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestPrograms: each other program on PATH is listed once, with its version; one of another version
// is a warning.
func TestPrograms(t *testing.T) {
	root := t.TempDir()
	folders := []string{filepath.Join(root, "absent")}
	for _, p := range []struct {
		folder, text string
		mode         os.FileMode
	}{
		{"text", "", 0o644},
		{"old", `echo '{"revision": "v1"}'`, 0o755},
		{"same", `echo '{"revision": "` + revision.Of() + `"}'`, 0o755},
		{"mute", "exit 1", 0o755},
	} {
		file := filepath.Join(root, p.folder, "redsi")
		folders = append(folders, filepath.Dir(file))
		errtest.None(t, os.Mkdir(filepath.Dir(file), 0o755))
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+p.text), p.mode); err != nil {
			t.Fatal(err)
		}
	}
	errtest.None(t, os.Symlink(filepath.Join(root, "old", "redsi"), filepath.Join(root, "redsi")))
	this := t.TempDir()
	errtest.None(t, os.Symlink(revision.Program(), filepath.Join(this, "redsi")))
	var got []string
	for _, f := range Programs(t.Context(), strings.Join(append(folders, root, this), string(filepath.ListSeparator))) {
		got = append(got, f.level()+" "+strings.ReplaceAll(f.Note, root, ""))
	}
	want := []string{"warn redsi v1, /old/redsi, another version", "ok redsi " + revision.Of() + ", /same/redsi", "ok redsi unknown, /mute/redsi"}
	if s := strings.Join(want, "\n"); strings.Join(got, "\n") != s {
		t.Errorf("%q", got)
	}
}
