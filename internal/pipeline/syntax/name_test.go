package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"p/b.hcl": "b", "p/a.hcl": "a", "p/.hidden.hcl": "h", "p/notes.txt": "n", "p/sub/c.hcl": "c", "empty/x.txt": "", "alone.hcl": "alone",
		"whole/pipelines.hcl": "", "whole/a.hcl": "", "whole/a.test.hcl": "", "whole/redsi.local.hcl": "", "whole/.hidden.hcl": "", "whole/sub/b.hcl": "", "my.pipelines.hcl": ""} {
		filetest.Write(t, name, text)
	}
	for _, c := range []struct{ name, want, err string }{
		{"p", "p/a.hcl p/b.hcl", ""},
		{"./p/", "p/a.hcl p/b.hcl", ""},
		{"alone.hcl", "alone.hcl", ""},
		{"empty", "", "has no *.hcl file"},
		{"p/notes.txt", "", "does not end in .hcl"},
		{"whole/pipelines.hcl", "whole/a.hcl whole/pipelines.hcl", ""},
		{"./whole/../whole/pipelines.hcl", "whole/a.hcl whole/pipelines.hcl", ""},
		{"whole", "whole/a.hcl whole/pipelines.hcl", ""},
		{"whole/a.hcl", "whole/a.hcl", ""},
		{"whole/a.test.hcl", "", "is a test file"},
		{"whole/redsi.local.hcl", "", "has settings for the one beside it"},
		{"whole/.hidden.hcl", "whole/.hidden.hcl", ""},
		{"p/pipelines.hcl", "", "p/pipelines.hcl"},
		{"my.pipelines.hcl", "my.pipelines.hcl", ""},
		{"nowhere.hcl", "", "nowhere.hcl"},
		{"", "", "there is no pipelines.hcl here"},
		{syntax.DefaultFile, "", "there is no pipelines.hcl here"},
	} {
		got, err := syntax.Read(c.name)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: error %v, want %q", c.name, err, c.err)
		}
		if names := strings.Join(syntax.Keys(got), " "); names != c.want {
			t.Errorf("%q reads %s, want %s", c.name, names, c.want)
		}
	}
	filetest.Write(t, syntax.DefaultFile, "x")
	if got, err := syntax.Read(""); err != nil || strings.Join(syntax.Keys(got), " ") != "alone.hcl my.pipelines.hcl pipelines.hcl" {
		t.Errorf("the default: %v, %v", got, err)
	}
	for file, want := range map[string]string{"whole/a.hcl": "whole/pipelines.hcl", "alone.hcl": "pipelines.hcl", "whole/pipelines.hcl": "", "whole/a.test.hcl": "",
		"whole/.hidden.hcl": "", "p/a.hcl": "", "whole": ""} {
		if got := syntax.Around(file); got != want {
			t.Errorf("around %s stands %q, want %q", file, got, want)
		}
	}
}

// ReadFile takes a regular file of a bounded size.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	filetest.Write(t, large, "")
	errtest.None(t, os.Truncate(large, 20<<30))
	pipe := filepath.Join(dir, "pipe") // nobody writes to it
	errtest.None(t, syscall.Mkfifo(pipe, 0o600))
	full := filepath.Join(dir, "full")
	filetest.Write(t, full, make([]byte, syntax.MaxFile))
	if b, err := syntax.ReadFile(full); err != nil || len(b) != syntax.MaxFile {
		t.Errorf("the largest file: %d bytes, %v", len(b), err)
	}
	for name, want := range map[string]string{large: "more than 8388608 bytes", dir: "is a folder", "/dev/zero": "is a device", pipe: "is a pipe", filepath.Join(dir, "none"): "no such file"} {
		errtest.Says(t, errtest.Of(syntax.ReadFile(name)), want, name)
	}
}
