package listing_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/testkit"
)

// lay makes files and folders: NAME, NAME/, NAME* with an x bit, NAME -> TARGET, NAME: TEXT.
func lay(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		n, text, _ := strings.Cut(n, ": ")
		n, target, isLink := strings.Cut(n, " -> ")
		at := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(n, "*")))
		switch {
		case strings.HasSuffix(n, "/"):
			testkit.None(t, os.MkdirAll(at, 0o755))
		case isLink:
			testkit.None(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(target, at)))
		case strings.HasSuffix(n, "*"):
			testkit.Program(t, at, text)
		default:
			testkit.Write(t, at, text)
		}
	}
}

// shown is a listing in lay's words.
func shown(l *listing.Listing) string {
	var list []string
	for _, f := range l.Files {
		switch f.Mode {
		case artifacts.Folder:
			f.Name += "/"
		case artifacts.Executable:
			f.Name += "*"
		case artifacts.Link:
			f.Name += " -> " + f.Link
		}
		list = append(list, f.Name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func TestOf(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s*{1}?[12]") // whose letters are no pattern
	lay(t, filepath.Dir(dir), "s1/d/other.csv", "s*{1}?1/d/other.csv")
	lay(t, dir, "d/b.csv", "d/A.csv", "d/a.csv", "d/run.sh*", "d/empty/", "d/sub/deep/c.csv", "d/sub/up -> ../b.csv",
		"d/gone -> nothing", "d/dot -> ./sub/", "d/.git/HEAD", "d/.redsi/digests.json", "d/.hidden", "d/é.txt", "d/e\u0301.txt", "named -> d", "d[1]/x.csv", "d1/y.csv", "none/")
	all := ".hidden, A.csv, a.csv, b.csv, dot -> sub, empty/, e\u0301.txt, gone -> nothing, run.sh*, sub/deep/c.csv, sub/up -> ../b.csv, é.txt"
	for path, want := range map[string]string{
		"d":           all,
		"named":       all,
		"d/run.sh":    "run.sh*",
		"d/gone":      "no such file",
		"d/sub/up":    "up",
		"d/**/*.csv":  "A.csv, a.csv, b.csv, sub/deep/c.csv",
		"d/*.csv":     "A.csv, a.csv, b.csv",
		"*/x.csv":     "d[1]/x.csv",
		"d[1]/*.csv":  "x.csv",
		`d\[1\]/*`:    "x.csv",
		"d[1-2]/*":    "d1/y.csv",
		"*/other.csv": "no file in " + dir + " fits",
		"d[1]":        "x.csv",
		"d/*.parquet": "no file in ",
		"d/[":         "cannot be read",
		"nothing":     "no such file",
		"nothing/*":   "no such file",
		"none":        "",
	} {
		l, err := listing.Of(filepath.Join(dir, path), true)
		switch {
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v", path, err)
		case err == nil && shown(l) != want:
			t.Errorf("%s has %s\nwant %s", path, shown(l), want)
		}
	}
}

// TestRefused: each names what it is and where, and says what to do.
func TestRefused(t *testing.T) {
	for want, make := range map[string]func(dir string) error{
		`leads to "../x", which is outside`:   func(dir string) error { return os.Symlink("../x", filepath.Join(dir, "l")) },
		"leads to the absolute path \"/etc\"": func(dir string) error { return os.Symlink("/etc", filepath.Join(dir, "l")) },
		"not a clean path":                    func(dir string) error { return os.Symlink("a/../b", filepath.Join(dir, "l")) },
		"l is a pipe":                         func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "l"), 0o644) },
		"l is a socket": func(dir string) error {
			s, err := net.Listen("unix", filepath.Join(dir, "l"))
			if err == nil {
				t.Cleanup(func() { s.Close() })
			}
			return err
		},
		`"a\nb" has a backslash or a control`: func(dir string) error { return os.WriteFile(filepath.Join(dir, "a\nb"), nil, 0o644) },
		`"a\xff" is not valid UTF-8`:          func(dir string) error { return os.WriteFile(filepath.Join(dir, "a\xff"), nil, 0o644) },
		`"aux.c" is another file on Windows`:  func(dir string) error { return os.WriteFile(filepath.Join(dir, "aux.c"), nil, 0o644) },
	} {
		dir := t.TempDir()
		testkit.None(t, make(dir))
		_, err := listing.Of(dir, true)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "a line in .gitignore") {
			t.Errorf("want %s: %v", want, err)
			continue
		}
		lay(t, dir, ".gitignore: l\n/a*\n", "kept")
		if l, err := listing.Of(dir, true); err != nil || l.Ignored != 1 || shown(l) != ".gitignore, kept" {
			t.Errorf("%s: ignored: %v, %v", want, l, err)
		}
	}
}

// TestIgnore compares with git what rules leave out.
func TestIgnore(t *testing.T) {
	files := []string{"a.log", "keep.log", "sub/a.log", "sub/b.txt", "sub/deep/x", "sub/deep/y.txt", "build/x", "sub/build/x", "top", "sub/top",
		"sub/#n", "!bang", "lit*", "litx", "d/e/f/g", "d/f/g", "x/y/z.tmp", "x/z.tmp", "docs/a", "docs/b/c", "n/o/p", "with space/a", "crlf", "é", "sp s"}
	for name, rules := range map[string]map[string]string{
		"names":     {"": "*.log\n!keep.log\nbuild/\n"},
		"anchored":  {"": "/top\nsub/deep\n"},
		"nested":    {"": "*.log\n*.txt\n", "sub": "!a.log\n/deep/*\n!/deep/y.txt\n"},
		"again":     {"": "sub/*\n!sub/b.txt\ndocs/\n!docs/a\n"},
		"stars":     {"": "d/**/g\n**/z.tmp\nn/**\n"},
		"escapes":   {"": "\\#n\n\\!bang\nsp\\ s\ntop  \nlit\\*\n"},
		"comments":  {"": "# *\n\n  \n/\n!\n!/\nwith space\ncrlf\r\n"},
		"classes":   {"": "[a-c].log\nli[!t]x\nt?p\né\n"},
		"everyTree": {"": "*\n!*/\n!*.txt\n"},
		"bom":       {"": "\xef\xbb\xbf*.log\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range files {
				testkit.Write(t, filepath.Join(dir, f), "x")
			}
			for at, text := range rules {
				testkit.Write(t, filepath.Join(dir, at, ".gitignore"), text)
			}
			git := func(args ...string) string {
				cmd := exec.Command("git", args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
				out, err := cmd.CombinedOutput()
				testkit.None(t, err, string(out))
				return string(out)
			}
			git("init", "-q")
			want := strings.Split(strings.TrimSuffix(git("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
			l, err := listing.Of(dir, true)
			testkit.None(t, err)
			var got []string
			for _, f := range l.Files {
				if f.Mode != artifacts.Folder {
					got = append(got, f.Name)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			testkit.Deep(t, got, want)
		})
	}
}

// TestRulesAbove: those of the repository around count for what is in the folder, not for the
// folder itself, which is named; those outside of the repository count for nothing.
func TestRulesAbove(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, ".gitignore: *.csv\n", "repo/.git/HEAD", "repo/.gitignore: /data\n*.tmp\n", "repo/data/a.csv", "repo/data/b.tmp", "repo/data/sub/c.tmp", "repo/data/sub/d", "repo/data/cache/e.tmp")
	for path, want := range map[string]string{"repo/data": "a.csv, sub/d", "repo/data/*.csv": "a.csv", "repo/data/b.tmp": "b.tmp", "repo/data/*.tmp": "leave out all"} {
		l, err := listing.Of(filepath.Join(dir, path), true)
		if got := fmt.Sprint(err); err != nil && !strings.Contains(got, want) || err == nil && shown(l) != want {
			t.Errorf("%s: %v, %v", path, l, err)
		}
	}
	l, err := listing.Of(filepath.Join(dir, "repo/data"), false)
	if err != nil || shown(l) != "a.csv, b.tmp, cache/e.tmp, sub/c.tmp, sub/d" || l.Ignored != 0 {
		t.Errorf("without rules: %v, %v", l, err)
	}
	lay(t, dir, "repo/data/.gitignore: [a\n")
	testkit.ErrSays(t, testkit.Err(listing.Of(filepath.Join(dir, "repo/data"), true)), filepath.Join("data", ".gitignore")+":1: the pattern")
}

// TestTree: there and back again, a folder has the same tree.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "d/a: one", "d/run*: x", "d/sub/l -> ../a", "d/empty/", "d/to -> sub")
	hash := func(ctx context.Context, path string) (artifacts.Digest, int64, error) {
		d, seen, err := hashed.Digest(ctx, path, nil)
		return d, seen.Size, err
	}
	tree := func(at string) artifacts.Artifact {
		l, err := listing.Of(filepath.Join(dir, at), true)
		testkit.None(t, err)
		a, err := l.Tree(t.Context(), hash)
		testkit.None(t, err)
		return a
	}
	was := tree("d")
	testkit.None(t, os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "e")))
	if is := tree("e"); is.Digest != was.Digest || is.Validate() != nil {
		t.Errorf("%+v, %v", is, is.Validate())
	}
	testkit.None(t, os.Chmod(filepath.Join(dir, "e", "a"), 0))
	l, err := listing.Of(filepath.Join(dir, "e"), true)
	testkit.None(t, err)
	if _, err := l.Tree(t.Context(), hash); os.Getuid() != 0 && (err == nil || !strings.Contains(err.Error(), filepath.Join("e", "a")+": permission denied")) {
		t.Error(err)
	}
}
