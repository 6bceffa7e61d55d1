package git_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/system/testkit"
)

func run(t *testing.T, folder string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	testkit.None(t, err, args, string(out))
}

// TestCommit reads files of a commit that are other ones, or gone, in the working tree.
func TestCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	testkit.None(t, err)
	paper := filepath.Join(top, "the paper")
	long := strings.Repeat("long\n", 1000)
	sum := sha256.Sum256([]byte("kept elsewhere"))
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize 14\n", sum)
	for name, text := range map[string]string{"p.hcl": "one", "q.hcl": "", "ü/data": long, "big.bin": pointer, "../other/x": "x", "dir/y": "y", "sh\"or\nt": "z"} {
		testkit.Write(t, filepath.Join(paper, name), text)
	}
	for link, to := range map[string]string{"link": "p.hcl", "far": "../other/x", "folder": "dir", "out": "/etc/passwd", "loop": "loop", "up": "../../p"} {
		testkit.None(t, os.Symlink(to, filepath.Join(paper, link)))
	}
	run(t, top, "init", "--quiet", "--initial-branch=main")
	run(t, top, "add", "-A")
	run(t, top, "commit", "--quiet", "-m", "x")
	testkit.None(t, os.RemoveAll(filepath.Join(paper, "dir")))
	testkit.Write(t, filepath.Join(paper, "p.hcl"), "two")
	testkit.Write(t, filepath.Join(paper, "new"), "")

	ctx := t.Context()
	id, err := git.Resolve(ctx, paper, "main")
	if err != nil || len(id) != 40 {
		t.Fatal(id, err)
	}
	for _, none := range []string{"other", "--all", "main:p.hcl", ""} {
		if id, err := git.Resolve(ctx, paper, none); err == nil {
			t.Errorf("%q is commit %q", none, id)
		}
	}
	c, err := git.Open(ctx, paper, id)
	testkit.None(t, err)
	at := func(name string) string { return filepath.Join(paper, name) }
	for name, want := range map[string]string{"p.hcl": "one", "link": "one", "far": "x", "folder/y": "y", "ü/data": long, "../other/x": "x", "sh\"or\nt": "z"} {
		b, err := c.Read(ctx, at(name), 1<<20)
		testkit.None(t, err)
		testkit.Is(t, string(b), want, name)
		d, n, err := c.Digest(ctx, at(name))
		if err != nil || d != sha256.Sum256([]byte(want)) || n != int64(len(want)) {
			t.Errorf("%s: %x of %d bytes, %v", name, d, n, err)
		}
	}
	for _, name := range []string{"new", "dir", "out", "loop", "up", "../..", "/etc/passwd"} {
		if !filepath.IsAbs(name) {
			name = at(name)
		}
		if _, err := c.Read(ctx, name, 1<<20); !errors.Is(err, fs.ErrNotExist) || c.Has(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d, n, err := c.Digest(ctx, at("big.bin")); err != nil || d != sum || n != 14 {
		t.Errorf("of a pointer: %x, %d, %v", d, n, err)
	}
	testkit.ErrSays(t, testkit.Err(c.Read(ctx, at("ü/data"), 100)), "more than 100 bytes")
	if names := c.List(paper); !slices.Contains(names, "q.hcl") || slices.Contains(names, "new") || slices.Contains(names, "data") {
		t.Errorf("%q", names)
	}
	testkit.That(t, c.Covers(at("new")) && !c.Covers("/etc/passwd"), "what the working tree has")
}

func TestPointer(t *testing.T) {
	const head = "version https://git-lfs.github.com/spec/v1\n"
	sum := strings.Repeat("ab", 32)
	for text, want := range map[string]bool{
		head + "oid sha256:" + sum + "\nsize 3\n":                             true,
		head + "ext-0-x sha256:0\noid sha256:" + sum + "\nsize 3\n":           true,
		head + "oid sha256:" + sum + "\n":                                     false,
		head + "oid md5:" + sum + "\nsize 3\n":                                false,
		head + "oid sha256:" + sum[2:] + "\nsize 3\n":                         false,
		head + "oid sha256:" + sum + "\nsize -3\n":                            false,
		"oid sha256:" + sum + "\nsize 3\n":                                    false,
		head + "oid sha256:" + sum + "\nsize 3\n" + strings.Repeat("x", 1100): false,
	} {
		if _, _, ok := git.Pointer([]byte(text)); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}
