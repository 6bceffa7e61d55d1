package modules_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/modules"
	"github.com/redsi/redsi/internal/system/testkit"
)

// repository makes a git repository with a folder of two files, a link and a hook.
func repository(t *testing.T) (folder, url string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	folder = filepath.Join(t.TempDir(), "first paper")
	for name, text := range map[string]string{"study/p.hcl": "# one\n", "study/q.hcl": "", "read.txt": "x", "study/.gitattributes": "*.hcl filter=shout\n"} {
		testkit.Write(t, filepath.Join(folder, name), text)
	}
	testkit.None(t, os.Symlink("/etc/passwd", filepath.Join(folder, "study", "link.hcl")))
	git(t, folder, "init", "--quiet", "--initial-branch=main")
	commit(t, folder)
	return folder, "git::file://" + strings.ReplaceAll(folder, " ", "%20")
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	testkit.None(t, err, args, out)
	return strings.TrimSpace(string(out))
}

func commit(t *testing.T, folder string) string {
	t.Helper()
	git(t, folder, "add", "-A")
	git(t, folder, "commit", "--quiet", "-m", "x")
	return git(t, folder, "rev-parse", "HEAD")
}

func reader(t *testing.T) *modules.Reader {
	dir := t.TempDir()
	return &modules.Reader{Lock: filepath.Join(dir, lockfile.Name), Cache: filepath.Join(dir, "cache")}
}

// another is a reader of the same files, as the next process makes it.
func another(r *modules.Reader) *modules.Reader { return &modules.Reader{Lock: r.Lock, Cache: r.Cache} }

// open opens a module and returns what p.hcl has.
func open(t *testing.T, r *modules.Reader, source string) (string, error) {
	t.Helper()
	files, err := r.Open(t.Context(), ".", source)
	if err != nil {
		return "", err
	}
	testkit.Is(t, len(files), 2, source)
	for name, b := range files {
		if filepath.Base(name) == "p.hcl" {
			return string(b), nil
		}
	}
	t.Fatalf("%s has no p.hcl", source)
	return "", nil
}

func TestPinned(t *testing.T) {
	folder, url := repository(t)
	source := url + "//study?ref=main"
	first := git(t, folder, "rev-parse", "HEAD")
	git(t, folder, "tag", "-a", "v1", "-m", "one")
	r := reader(t)
	if got, err := open(t, r, source); got != "# one\n" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	lock, err := lockfile.Read(r.Lock)
	if err != nil || len(lock.Modules) != 1 || lock.Modules[0].Commit != first || lock.Modules[0].Source != url+"?ref=main" || !strings.HasPrefix(lock.Modules[0].Tree, "h1:") {
		t.Fatalf("pinned %+v, %v", lock.Modules, err)
	}

	// The ref moves: the pin stays until it is updated.
	testkit.Write(t, filepath.Join(folder, "study", "p.hcl"), "# two\n")
	second := commit(t, folder)
	stay := another(r)
	if got, err := open(t, stay, source); got != "# one\n" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	testkit.Of(t, second)(stay.Used[0].Moved(t.Context()))
	for ref, want := range map[string]string{"v1": first, "refs/tags/v1": first, first: first, "HEAD": second} {
		r := reader(t)
		want = map[string]string{first: "# one\n", second: "# two\n"}[want]
		if got, err := open(t, r, url+"//study?ref="+ref); got != want || err != nil {
			t.Errorf("%s: %q, %v", ref, got, err)
			continue
		}
		testkit.Of(t, "", ref)(r.Used[0].Moved(t.Context()))
	}
	up := another(r)
	up.Update = func(string) bool { return true }
	if got, err := open(t, up, source); got != "# two\n" || err != nil || up.Used[0].Before != first || up.Used[0].Commit != second {
		t.Fatalf("%q, %v, %+v", got, err, up.Used)
	}

	// Pinned and kept: without the repository, and whatever was done to what is kept.
	elsewhere := folder + "-moved"
	testkit.None(t, os.Rename(folder, elsewhere))
	if got, err := open(t, another(r), source); got != "# two\n" || err != nil {
		t.Fatalf("offline: %q, %v", got, err)
	}
	kept, err := filepath.Glob(filepath.Join(r.Cache, "*", second, "study", "p.hcl"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	testkit.Write(t, kept[0], "# changed\n")
	testkit.ErrSays(t, testkit.Err(open(t, another(r), source)), source)
	testkit.None(t, os.Rename(elsewhere, folder))
	testkit.Of(t, "# two\n")(open(t, another(r), source))
	old, young := filepath.Join(r.Cache, ".fetch-old"), filepath.Join(r.Cache, ".fetch-young")
	testkit.Write(t, filepath.Join(old, "x"), "")
	testkit.Write(t, filepath.Join(young, "x"), "")
	testkit.None(t, os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)))
	testkit.None(t, os.RemoveAll(filepath.Dir(filepath.Dir(filepath.Dir(kept[0])))))
	testkit.None(t, testkit.Err(open(t, another(r), source)))
	if left, err := filepath.Glob(filepath.Join(r.Cache, ".fetch-*")); err != nil || len(left) != 1 || left[0] != young {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestRewritten: history was rewritten, and the pinned commit is gone.
func TestRewritten(t *testing.T) {
	folder, url := repository(t)
	r := reader(t)
	testkit.None(t, testkit.Err(open(t, r, url+"//study?ref=main")))
	testkit.Write(t, filepath.Join(folder, "study", "p.hcl"), "# other\n")
	git(t, folder, "add", "-A")
	git(t, folder, "commit", "--quiet", "--amend", "-m", "y")
	git(t, folder, "reflog", "expire", "--expire=now", "--all")
	git(t, folder, "gc", "--quiet", "--prune=now")
	testkit.None(t, os.RemoveAll(r.Cache))
	_, err := open(t, another(r), url+"//study?ref=main")
	testkit.ErrSays(t, err, "sources update pins the new one")
}

// TestNothingRuns: neither a filter of the user's git nor a link of the repository has an effect, and no hook is there.
func TestNothingRuns(t *testing.T) {
	_, url := repository(t)
	home := t.TempDir()
	ran := filepath.Join(home, "ran")
	hooks := filepath.Join(home, "templates", "hooks")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-update"} {
		testkit.Write(t, filepath.Join(hooks, hook), "#!/bin/sh\ntouch '"+ran+"'\n")
		testkit.None(t, os.Chmod(filepath.Join(hooks, hook), 0o755))
	}
	testkit.Write(t, filepath.Join(home, ".gitconfig"), "[filter \"shout\"]\n\tsmudge = \"touch '"+ran+"'; cat\"\n[init]\n\ttemplateDir = "+filepath.Dir(hooks)+"\n[core]\n\thooksPath = "+hooks+"\n")
	t.Setenv("HOME", home)
	t.Setenv("GIT_DIR", filepath.Join(home, "no repository"))
	r := reader(t)
	if got, err := open(t, r, url+"//study?ref=main"); got != "# one\n" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	testkit.Some(t, testkit.Err(os.Stat(ran)), "something ran")
	if links, err := filepath.Glob(filepath.Join(r.Cache, "*", "*", "study", "link.hcl")); err != nil || len(links) > 0 {
		t.Errorf("links were made: %v, %v", links, err)
	}
}

func TestAtOnce(t *testing.T) {
	_, url := repository(t)
	r := reader(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if files, err := another(r).Open(t.Context(), ".", url+"//study?ref=main"); err != nil || len(files) != 2 {
				t.Errorf("%d files, %v", len(files), err)
			}
		}()
	}
	wg.Wait()
	lock, err := os.ReadFile(r.Lock)
	testkit.None(t, err, lock)
	testkit.Is(t, bytes.Count(lock, []byte(`"commit"`)), 1, lock)
}

// TestAccept: a worker opens what lies in accepted folders, and pinned repositories.
func TestAccept(t *testing.T) {
	_, url := repository(t)
	r := reader(t)
	accepted := filepath.Dir(r.Lock)
	refusing := func() *modules.Reader {
		w := another(r)
		w.Accept = func(file string) error {
			if rel, err := filepath.Rel(accepted, file); err != nil || !filepath.IsLocal(rel) {
				return os.ErrPermission
			}
			return nil
		}
		return w
	}
	testkit.Write(t, filepath.Join(accepted, "in", "p.hcl"), "")
	outside := t.TempDir()
	testkit.Write(t, filepath.Join(outside, "p.hcl"), "")
	testkit.None(t, testkit.Err(refusing().Open(t.Context(), accepted, "./in")))
	for _, source := range []string{outside, "../" + filepath.Base(outside)} {
		if _, err := refusing().Open(t.Context(), accepted, source); err != os.ErrPermission {
			t.Errorf("%s: %v", source, err)
		}
	}
	source := url + "//study?ref=main"
	testkit.ErrSays(t, testkit.Err(refusing().Open(t.Context(), accepted, source)), "not pinned")
	testkit.None(t, testkit.Err(open(t, another(r), source)))
	w := refusing()
	files, err := w.Open(t.Context(), accepted, source)
	testkit.None(t, err)
	for name := range files { // a module of the repository's own
		testkit.None(t, testkit.Err(w.Open(t.Context(), filepath.ToSlash(filepath.Dir(name)), "../study")))
		break
	}
}

func TestParseGit(t *testing.T) {
	for source, want := range map[string]modules.Repository{
		"git::https://example.org/a/paper.git?ref=v1.0":           {URL: "https://example.org/a/paper.git", Ref: "v1.0", Folder: "."},
		"git::https://example.org/a/paper//studies/b/?ref=main":   {URL: "https://example.org/a/paper", Ref: "main", Folder: "studies/b"},
		"git::ssh://git@example.org:22/a%20b.git//p.hcl?ref=x/y":  {URL: "ssh://git@example.org:22/a%20b.git", Ref: "x/y", Folder: "p.hcl"},
		"git::file:///srv/paper?ref=0123456789abcdef0123456789ab": {URL: "file:///srv/paper", Ref: "0123456789abcdef0123456789ab", Folder: "."},
	} {
		got, ok, err := modules.ParseGit(source)
		testkit.That(t, ok && err == nil && got == want, source, got, ok, err)
	}
	for _, source := range []string{
		"git::--upload-pack=touch x?ref=a", "git::ext::sh -c x?ref=a", "git::http://example.org/a?ref=a", "git::git@example.org:a.git?ref=a",
		"git::https://example.org/a", "git::https://example.org/a?ref=", "git::https://example.org/a?ref=--upload-pack=x",
		"git::https://example.org/a?ref=a:b", "git::https://example.org/a?ref=+a", "git::https://example.org/a?ref=a..b",
		"git::https://example.org/a?ref=a&depth=1", "git::https://example.org/a?ref=a&ref=b", "git::https://example.org/a?ref=a#b",
		"git::https://example.org/a//../b?ref=a", "git::https://example.org/a//%2e%2e/b?ref=a", "git::https://example.org/?ref=a",
		"git::https:///a?ref=a", "git::ssh://-oProxyCommand=x/a?ref=a", "git::ssh://-x@example.org/a?ref=a", "git::https://me:secret@example.org/a?ref=a",
		"git::", "git::https://example.org/a?ref=%0aa",
	} {
		if got, ok, err := modules.ParseGit(source); !ok || err == nil {
			t.Errorf("%s: %+v, %v, %v", source, got, ok, err)
		}
	}
	if _, ok, err := modules.ParseGit("../first"); ok || err != nil {
		t.Errorf("a path: %v, %v", ok, err)
	}
}
