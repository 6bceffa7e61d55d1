package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestShellHasTheTerminal: a shell is given the streams of the process, not what we print on.
func TestShellHasTheTerminal(t *testing.T) {
	dir := t.TempDir()
	shell, seen := filepath.Join(dir, "shell"), filepath.Join(dir, "seen")
	testkit.Program(t, shell, "#!/bin/sh\necho prompt >&2\n")
	t.Setenv("SHELL", shell)
	f, err := os.Create(seen)
	testkit.None(t, err)
	defer f.Close()
	was := os.Stderr
	os.Stderr = f
	defer func() { os.Stderr = was }()
	var ours bytes.Buffer
	a := newApp(&session.Session{}, &ours, &ours)
	testkit.None(t, a.enter(dir, nil))
	if b, err := os.ReadFile(seen); err != nil || string(b) != "prompt\n" {
		t.Errorf("standard error has %q, ours %q, %v", b, &ours, err)
	}
}

// TestOverwritten: on a terminal, of a progress bar the last state is shown.
func TestOverwritten(t *testing.T) {
	for text, want := range map[string]string{
		"plain\nlines\n":             "plain\nlines\n",
		"a\n 0%\r 50%\r100%\nb\n":    "a\n100%\nb\n",
		"\r 0%|  |\r 9%|# |\r\nnext": " 9%|# |\r\nnext",
		"dos\r\nlines\r\n":           "dos\r\nlines\r\n",
	} {
		testkit.Is(t, overwritten.ReplaceAllString(text, "$1"), want, text)
	}
}
