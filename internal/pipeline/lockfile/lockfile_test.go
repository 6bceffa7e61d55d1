package lockfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

func pin(source, bytes string) step.Pin {
	return step.Pin{Source: source, SHA256: artifacts.Sum([]byte(bytes)), Size: int64(len(bytes))}
}

// A file of another redsi is refused, so that nothing of it is lost when it is written again.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "there is no field sources", `{"comment": "x", "sources": []}`: "", `{"format": "redsi-lock/1", "sources": []}`: "",
		`{"format": "redsi-lock/2"}`: `(its format is "redsi-lock/2"):`, `{"format": "redsi-lock/2", "sources": [], "new": 1}`: `its format is "redsi-lock/2"`, `{"models": []}`: `unknown field "models"`, `{"sources": [{"etag": "x"}]}`: `unknown field "etag"`,
		`{`: "is not a lock file", `{} <<<`: "is not a lock file",
	} {
		path := filepath.Join(t.TempDir(), Name)
		testkit.Write(t, path, text)
		for name, read := range map[string]func() error{
			"Read": func() error { _, err := Read(path); return err },
			"Open": func() error { _, err := Open(path, "", ""); return err },
		} {
			if err := read(); (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)) {
				t.Errorf("%s of %s: %v", name, text, err)
			}
		}
	}
}

func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	testkit.None(t, Add(path, []step.Pin{pin("https://b", "b"), pin("https://a", "a")}))
	first, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(first), "{\n  \"format\": \"redsi-lock/1\"") {
		t.Fatalf("%s, %v", first, err)
	}
	testkit.None(t, Add(path, []step.Pin{pin("https://a", "a")}))
	again, _ := os.ReadFile(path)
	testkit.Is(t, string(first), string(again), "pinning what is pinned changed the file")
	if a, b := strings.Index(string(first), "https://a"), strings.Index(string(first), "https://b"); a < 0 || b < a {
		t.Errorf("sources are not in order:\n%s", first)
	}
	lock := filepath.Join(filepath.Dir(path), "."+Name+".lock")
	testkit.None(t, os.Remove(lock))
	testkit.None(t, Add(path, []step.Pin{pin("https://a", "a")}))
	if _, err := os.Stat(lock); err == nil { // a checkout may be read-only
		t.Error("pinning what is pinned wrote to the folder")
	}
	err = Add(path, []step.Pin{pin("https://a", "other bytes")})
	testkit.ErrSays(t, err, "https://a", path)
	f, err := Read(path)
	testkit.None(t, err)
	if p, ok := f.Pinned("https://b"); !ok || p != pin("https://b", "b") {
		t.Errorf("read back %+v", p)
	}
}

func TestLocalFileMustBeAFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	testkit.None(t, syscall.Mkfifo(pipe, 0o644))
	s, err := Open(filepath.Join(dir, Name), dir, "")
	testkit.None(t, err)
	for _, path := range []string{pipe, dir, "/dev/zero"} { // a pipe must not be waited for
		testkit.ErrSays(t, testkit.Err(s.LocalFile(t.Context(), path)), path+" is not a regular file")
	}
}

// TestFolders: ten thousand files are hashed once, and what changes is seen.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	memo := filepath.Join(dir, "state", "digests.json")
	write := func(name, text string) {
		t.Helper()
		testkit.Write(t, filepath.Join(dir, "data", name), text)
	}
	for i := range 10_000 { // a hundred files of a hundred names: making files is what takes long
		name := fmt.Sprintf("%02d/%04d", i%100, i)
		if i < 100 {
			write(name, fmt.Sprint(i))
		} else if err := os.Link(filepath.Join(dir, fmt.Sprintf("data/%02d/%04d", i%100, i%100)), filepath.Join(dir, "data", name)); err != nil {
			t.Fatal(err)
		}
	}
	list := func(path string) step.Folder {
		t.Helper()
		s, err := Open(filepath.Join(dir, Name), dir, memo)
		testkit.None(t, err)
		f, err := s.LocalTree(t.Context(), path, true) // relative to the pipeline
		testkit.None(t, err)
		testkit.None(t, s.Save())
		return f
	}
	readMemory := func() (known map[string]map[string]json.RawMessage) {
		b, err := os.ReadFile(memo)
		testkit.None(t, errors.Join(err, json.Unmarshal(b, &known)))
		return known
	}
	few := list("data/00").Tree
	first := list("data")
	if len(first.Tree.Files) != 10_000 || first.Source != filepath.Join(dir, "data") || first.Tree.Validate() != nil {
		t.Fatalf("%d files of %s, %v", len(first.Tree.Files), first.Source, first.Tree.Validate())
	}
	known := readMemory()
	for _, r := range known { // as if hashed a minute after the last change
		changed, err := strconv.ParseInt(string(r["ctime_ns"]), 10, 64)
		testkit.None(t, err)
		r["read_ns"] = strconv.AppendInt(nil, changed+int64(time.Minute), 10)
		r["sha256"] = json.RawMessage(strconv.Quote(artifacts.Sum([]byte("planted")).String()))
	}
	testkit.None(t, atomicfile.WriteJSON(memo, known, "", 0o644))
	for _, f := range list("data").Tree.Files {
		if f.Digest != artifacts.Sum([]byte("planted")) {
			t.Fatalf("%s was hashed again", f.Name)
		}
	}
	if err := hashed.Forget(memo, filepath.Join(dir, "data")); err != nil || len(readMemory()) != 0 {
		t.Fatalf("%d files of a folder are still believed, %v", len(readMemory()), err)
	}
	testkit.Is(t, list("data/00").Tree.Digest, few.Digest, "the same files have another tree")
	write("00/0000", "x")
	changed := list("data/00").Tree
	write("00/new", "x")
	added := list("data/00").Tree
	testkit.None(t, errors.Join(os.Remove(filepath.Join(dir, "data/00/new")), os.Remove(filepath.Join(dir, "data/00/0200"))))
	removed := list("data/00").Tree
	seen := map[artifacts.Digest]bool{few.Digest: true, changed.Digest: true, added.Digest: true, removed.Digest: true}
	if len(seen) != 4 || len(added.Files) != 101 || len(removed.Files) != 99 {
		t.Errorf("%d trees, of %d and %d files", len(seen), len(added.Files), len(removed.Files))
	}
	at := filepath.Join(dir, "data", "00", "0100")
	testkit.None(t, errors.Join(os.Remove(at), os.Symlink("/etc/passwd", at)))
	s, err := Open(filepath.Join(dir, Name), dir, memo)
	testkit.None(t, err)
	testkit.ErrSays(t, testkit.Err(s.LocalTree(t.Context(), "data", true)), `link "00/0100" leads to the absolute path "/etc/passwd"`)
}

// TestAskedOnce: a program is the same for a whole plan, and looked at anew where that is asked for.
func TestAskedOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	s, err := Open("", dir, "")
	testkit.None(t, err)
	for i, want := range []string{"one", "one", "two", "two"} {
		testkit.Write(t, path, []string{"one", "two", "two", "six"}[i])
		s.Rehash = i == 2
		pin, err := s.LocalFile(t.Context(), path)
		if testkit.None(t, err); pin.SHA256 != artifacts.Sum([]byte(want)) {
			t.Errorf("asked %d times, it is not as %q", i+1, want)
		}
	}
	if pin, err := s.LocalFile(t.Context(), "program"); err != nil || pin.SHA256 != artifacts.Sum([]byte("six")) {
		t.Errorf("a source is not looked at each time: %v, %v", pin, err)
	}
}

// FuzzLock reads lock files and adds a pin: the file then has it beside its earlier pins.
func FuzzLock(f *testing.F) {
	f.Add([]byte(`{"comment":"c","sources":[{"source":"https://a/b","sha256":"` + artifacts.Sum(nil).String() + `","size":3}]}`))
	f.Add([]byte(`{"sources":[{"source":"gs://x/y"},{"source":"gs://x/y"}]}`))
	for _, text := range []string{`{}`, `{"sources":null}`, "<<<<<<< HEAD\n", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), Name)
		testkit.Write(t, path, b)
		before, err := Read(path)
		pin := step.Pin{Source: "https://new.example/file", SHA256: artifacts.Sum([]byte("new")), Size: 3}
		if err != nil {
			if Add(path, []step.Pin{pin}) == nil {
				t.Fatal("a pin was added to a file that cannot be read")
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
				t.Fatal("a file that cannot be read was changed")
			}
			return
		}
		if _, ok := before.Pinned(pin.Source); ok {
			return
		}
		if err := Add(path, []step.Pin{pin}); err != nil {
			return
		}
		after, err := Read(path)
		testkit.None(t, err, b)
		for _, want := range append(before.Sources, pin) {
			if _, ok := after.Pinned(want.Source); !ok {
				t.Fatalf("%q lost the pin of %q", b, want.Source)
			}
		}
	})
}

// TestProcessesKeepAllPins adds 50 pins, one by one, from each of two processes.
func TestProcessesKeepAllPins(t *testing.T) {
	const each = 50
	path := filepath.Join(t.TempDir(), Name)
	if to := os.Getenv("REDSI_TEST_PINS"); to != "" { // one of the two
		for i := range each {
			testkit.None(t, Add(to, []step.Pin{pin(fmt.Sprintf("https://%s/%d", os.Getenv("REDSI_TEST_NAME"), i), "x")}))
		}
		return
	}
	var running []*exec.Cmd
	for _, name := range []string{"one", "two"} {
		c := exec.Command(os.Args[0], "-test.run", "^TestProcessesKeepAllPins$")
		c.Env = append(os.Environ(), "REDSI_TEST_PINS="+path, "REDSI_TEST_NAME="+name)
		testkit.None(t, c.Start())
		running = append(running, c)
	}
	testkit.None(t, errors.Join(running[0].Wait(), running[1].Wait()))
	f, err := Read(path)
	if err != nil || len(f.Sources) != 2*each {
		t.Fatalf("%d pins kept of %d, %v", len(f.Sources), 2*each, err)
	}
}
