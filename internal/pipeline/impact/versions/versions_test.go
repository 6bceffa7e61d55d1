package versions

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestFiles: a commit's files are read as they were; others of this machine are named; a lock file is not taken.
func TestFiles(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Chdir(t.TempDir())
	testkit.Write(t, "pipelines.hcl", "# before\n")
	testkit.Write(t, "more.hcl", "")
	testkit.Write(t, "kept.txt", "kept")
	testkit.Write(t, "data/a.csv", "a")
	testkit.Write(t, "data/x/.h.csv", "h")
	testkit.Write(t, "data/x/b.csv", "b")
	for _, line := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@b commit -q -m x"} {
		if out, err := exec.CommandContext(t.Context(), "git", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	testkit.Write(t, "pipelines.hcl", "# after\n")
	testkit.Write(t, "new.hcl", "")
	testkit.Write(t, "data.txt", "here")
	testkit.Write(t, "redsi.lock", "{}")
	testkit.Write(t, "data/c.csv", "here")
	id, err := git.Resolve(t.Context(), ".", "HEAD")
	testkit.None(t, err)
	f, err := Open(t.Context(), ".", id, filepath.Join(".redsi", "modules"))
	testkit.None(t, err)
	files, err := f.Pipeline("pipelines.hcl")
	testkit.That(t, err == nil && len(files) == 2 && string(files["pipelines.hcl"]) == "# before\n", files, err)
	testkit.ErrSays(t, testkit.Err(f.Pipeline("nowhere")), "has no pipeline nowhere")
	if b, err := f.ReadFile("redsi.lock"); err == nil {
		t.Errorf("the lock file of today: %q", b)
	}
	if b, err := f.ReadFile("data.txt"); err != nil || string(b) != "here" {
		t.Errorf("%q, %v", b, err)
	}
	here := func(context.Context, string) (step.Pin, error) { return step.Pin{Size: -1}, nil }
	if pin, err := f.LocalFile(t.Context(), ".", "kept.txt", here); err != nil || pin.Size != 4 {
		t.Errorf("%+v, %v", pin, err)
	}
	if pin, err := f.LocalFile(t.Context(), ".", "other.txt", here); err != nil || pin.Size != -1 {
		t.Errorf("%+v, %v", pin, err)
	}
	if got, err := f.Listing("data", "**/*.csv"); err != nil || !slices.Equal(got, []string{"a.csv", "x/b.csv"}) {
		t.Errorf("%q, %v", got, err)
	}
	testkit.Deep(t, f.FromHere(), []string{"data.txt", "other.txt"})
}
