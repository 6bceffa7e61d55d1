package dir_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// childRoot, set in the environment, turns the test binary into a writer that
// stops in the middle of a blob, or does as childRole says.
const childRoot = "REDSI_TEST_WRITE_TO"

func TestMain(m *testing.M) {
	if root, role := os.Getenv(childRoot), os.Getenv(childRole); role != "" {
		replaceAs(root, role)
		return
	} else if root != "" {
		writeHalf(root)
	}
	os.Exit(m.Run())
}

// writeHalf puts a megabyte of a blob, says so, and waits to be killed.
func writeHalf(root string) {
	s, err := dir.Open(root)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	r, w := io.Pipe()
	go func() {
		w.Write(make([]byte, 1<<20)) // returns when Put has taken all of it
		fmt.Println("half")
	}()
	s.Blobs.Put(context.Background(), r)
}

func open(t *testing.T) artifacts.Store {
	t.Helper()
	return openAt(t, t.TempDir())
}

func openAt(t *testing.T, root string) artifacts.Store {
	t.Helper()
	s, err := dir.Open(root)
	errtest.None(t, err)
	return s
}

// TestPutSame checks that a short blob that is there is left where it is, with a new age, whoever
// has stored it, and that a long one is written again.
func TestPutSame(t *testing.T) {
	const short = 64 << 10
	root := t.TempDir()
	open := func() artifacts.Store {
		s, err := dir.Open(root)
		errtest.None(t, err)
		return s
	}
	s := open()
	for _, content := range [][]byte{{}, []byte("short"), make([]byte, short), make([]byte, short+1)} {
		put := func(s artifacts.Store) (os.FileInfo, string) {
			t.Helper()
			d := storetest.Put(t, s, content)
			path, _ := s.Blobs.(artifacts.Local).LocalPath(d)
			info, err := os.Stat(path)
			errtest.None(t, err)
			return info, path
		}
		first, path := put(s)
		old := time.Now().Add(-time.Hour)
		errtest.None(t, os.Chtimes(path, old, old))
		again, _ := put(s)
		if left := os.SameFile(first, again); left != (len(content) <= short) {
			t.Errorf("%d bytes: left where it is: %v", len(content), left)
		}
		if age := time.Since(again.ModTime()); age > time.Minute {
			t.Errorf("%d bytes: its age is %s", len(content), age)
		}
		if another, _ := put(open()); os.SameFile(again, another) != (len(content) <= short) {
			t.Errorf("%d bytes: another process has not treated it alike", len(content))
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %d are there, %v", len(content), len(got), err)
		}
	}
}

// TestPutHeals checks that a producer that runs again replaces bytes that went
// bad, though a blob of that name is there.
func TestPutHeals(t *testing.T) {
	s := open(t)
	b := storetest.Bytes(1, 1000)
	d := storetest.Put(t, s, b)
	path, _ := s.Blobs.(artifacts.Local).LocalPath(d)
	errtest.None(t, os.Chmod(path, 0o644))
	filetest.Write(t, path, make([]byte, 1000))
	errtest.None(t, errtest.Of(artifacts.PutBytes(t.Context(), s.Blobs, b)))
	if got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 1000); err != nil || !bytes.Equal(got, b) {
		t.Errorf("after the second Put: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, %v; want read-only", info.Mode(), err)
	}
}

// TestKilled kills a writer in the middle of a blob: nothing of it shows, and
// its file is swept once it is old.
func TestKilled(t *testing.T) {
	root := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRoot+"="+root)
	out, err := cmd.StdoutPipe()
	errtest.None(t, err)
	errtest.None(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "half\n" {
		t.Fatalf("the writer said %q, %v", line, err)
	}
	errtest.None(t, cmd.Process.Kill())
	cmd.Wait() // killed: that is its error

	s := openAt(t, root)
	for b, err := range s.Blobs.List(t.Context()) {
		t.Errorf("listed %v, %v", b, err)
	}
	left := files(t, filepath.Join(root, "tmp"))
	if len(left) != 1 {
		t.Fatalf("in tmp/: %v; want what the writer left", left)
	}
	old := time.Now().Add(-25 * time.Hour)
	errtest.None(t, os.Chtimes(left[0], old, old))
	fresh := filepath.Join(root, "tmp", "put-fresh")
	filetest.Write(t, fresh, "")
	openAt(t, root)
	if got := files(t, filepath.Join(root, "tmp")); !slices.Equal(got, []string{fresh}) {
		t.Errorf("after the sweep tmp/ has %v, want only the fresh one", got)
	}
}

func files(t *testing.T, top string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all = append(all, p)
		}
		return err
	})
	errtest.None(t, err)
	return all
}

// TestNothingLeft checks that calls that fail or succeed leave tmp/ empty.
func TestNothingLeft(t *testing.T) {
	root := t.TempDir()
	s := openAt(t, root)
	errtest.None(t, errtest.Of(artifacts.PutBytes(t.Context(), s.Blobs, []byte("x"))))
	for range 2 {
		s.Records.Create(t.Context(), "runs/1", []byte("{}"))
		s.Records.Put(t.Context(), "runs/1", []byte("{}"))
	}
	s.Blobs.Put(t.Context(), io.MultiReader(strings.NewReader("half"), &failing{}))
	if got := files(t, filepath.Join(root, "tmp")); len(got) != 0 {
		t.Errorf("left in tmp/: %v", got)
	}
	if got := files(t, root); len(got) != 2 {
		t.Errorf("files %v, want a blob and a record", got)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("the cable fell out") }

// TestStrangers checks that files which the store did not write are not taken
// for blobs or records.
func TestStrangers(t *testing.T) {
	root := t.TempDir()
	s := openAt(t, root)
	for _, p := range []string{"blobs/README", "blobs/ab/.DS_Store", "blobs/ab/cdef", "blobs/AB/" + strings.Repeat("0", 62),
		"records/x.txt", "records/A.json", "records/.a.json", "records/a.json~"} {
		p = filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("?"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for b, err := range s.Blobs.List(t.Context()) {
		t.Errorf("listed blob %v, %v", b, err)
	}
	for r, err := range s.Records.List(t.Context(), "") {
		t.Errorf("listed record %v, %v", r, err)
	}
}

// TestGone checks that a store whose folder has vanished, an unmounted disk say,
// is an error and never a miss.
func TestGone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	s := openAt(t, root)
	errtest.None(t, os.RemoveAll(root))
	d := artifacts.Sum(nil)
	_, openErr := s.Blobs.Open(t.Context(), d)
	_, missingErr := s.Blobs.Missing(t.Context(), []artifacts.Digest{d})
	_, getErr := s.Records.Get(t.Context(), "runs/1")
	_, _, putErr := s.Blobs.Put(t.Context(), strings.NewReader("x"))
	createErr := s.Records.Create(t.Context(), "runs/1", []byte("{}"))
	_, lookupErr := artifacts.Lookup(t.Context(), artifacts.Alone(s), d)
	var listErr error
	for _, listErr = range s.Records.List(t.Context(), "runs/") {
	}
	for what, err := range map[string]error{"Open": openErr, "Missing": missingErr, "Get": getErr, "Put": putErr,
		"Create": createErr, "Lookup": lookupErr, "List": listErr} {
		if err == nil || errors.Is(err, artifacts.ErrNotExist) || !strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v; want an error that names %s", what, err, root)
		}
	}
}

// TestList10000 lists as many records as a large reproduction has results.
func TestList10000(t *testing.T) {
	root := t.TempDir()
	s := openAt(t, root)
	var want []string
	if err := os.MkdirAll(filepath.Join(root, "records", "results"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		name := "results/" + artifacts.Sum(fmt.Append(nil, i)).Hex()
		path := filepath.Join(root, "records", filepath.FromSlash(artifacts.RecordPath(name)))
		if err := os.WriteFile(path, []byte("{}"), 0o444); err != nil { // Create would sync each
			t.Fatal(err)
		}
		want = append(want, name)
	}
	slices.Sort(want)
	var got []string
	for r, err := range s.Records.List(t.Context(), "results/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %d records", len(got))
	}
}

func FuzzPut(f *testing.F) {
	root := f.TempDir()
	s, err := dir.Open(root)
	errtest.None(f, err)
	f.Add([]byte{}, "runs/1")
	f.Add([]byte("abc"), "a.json/B")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		d := storetest.Put(t, s, b)
		if got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, int64(len(b))); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes came back as %d, %v", len(b), len(got), err)
		}
		if err := s.Records.Put(t.Context(), name, b); err != nil {
			if artifacts.CheckRecord(name, b) == nil {
				t.Fatal(err)
			}
			return
		}
		if got, err := s.Records.Get(t.Context(), name); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("record %q came back as %q, %v", name, got, err)
		}
	})
}
