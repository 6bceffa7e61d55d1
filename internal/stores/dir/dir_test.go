package dir_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// childRoot, set in the environment, turns the test binary into a writer that does as childRole says.
const childRoot = "REDSI_TEST_WRITE_TO"

func TestMain(m *testing.M) {
	if root := os.Getenv(childRoot); root != "" {
		replaceAs(root, os.Getenv(childRole))
		return
	}
	os.Exit(m.Run())
}

func open(t *testing.T) artifacts.Store {
	t.Helper()
	return openAt(t, t.TempDir())
}

func openAt(t *testing.T, root string) artifacts.Store {
	t.Helper()
	s, err := dir.Open(root)
	testkit.None(t, err)
	return s
}

// TestPutSame checks that a short blob that is there is left where it is, with a new age, whoever
// has stored it, and that a long one is written again.
func TestPutSame(t *testing.T) {
	const short = 64 << 10
	root := t.TempDir()
	open := func() artifacts.Store { return openAt(t, root) }
	s := open()
	for _, content := range [][]byte{{}, []byte("short"), make([]byte, short), make([]byte, short+1)} {
		put := func(s artifacts.Store) (os.FileInfo, string) {
			t.Helper()
			d := storetest.Put(t, s, content)
			path, _ := s.Blobs.(artifacts.Local).LocalPath(d)
			info, err := os.Stat(path)
			testkit.None(t, err)
			return info, path
		}
		first, path := put(s)
		old := time.Now().Add(-time.Hour)
		testkit.None(t, os.Chtimes(path, old, old))
		again, _ := put(s)
		testkit.Is(t, os.SameFile(first, again), (len(content) <= short), len(content))
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
	testkit.None(t, os.Chmod(path, 0o644))
	testkit.Write(t, path, make([]byte, 1000))
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, b)))
	if got, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 1000); err != nil || !bytes.Equal(got, b) {
		t.Errorf("after the second Put: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, %v; want read-only", info.Mode(), err)
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
	testkit.None(t, err)
	return all
}

// TestNothingLeft checks that calls that fail or succeed leave tmp/ empty.
func TestNothingLeft(t *testing.T) {
	root := t.TempDir()
	s := openAt(t, root)
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, []byte("x"))))
	for range 2 {
		s.Records.Create(t.Context(), "runs/1", []byte("{}"))
		s.Records.Put(t.Context(), "runs/1", []byte("{}"))
	}
	s.Blobs.Put(t.Context(), io.MultiReader(strings.NewReader("half"), &failing{}))
	testkit.Is(t, len(files(t, filepath.Join(root, "tmp"))), 0)
	testkit.Is(t, len(files(t, root)), 2, "files a blob and a record")
	// What a killed writer leaves there shows nowhere, and goes when it is old.
	old, fresh := filepath.Join(root, "tmp", "put-old"), filepath.Join(root, "tmp", "put-fresh")
	testkit.Write(t, old, "half")
	testkit.Write(t, fresh, "")
	testkit.None(t, os.Chtimes(old, time.Now(), time.Now().Add(-25*time.Hour)))
	n := 0
	for range openAt(t, root).Blobs.List(t.Context()) {
		n++
	}
	if got := files(t, filepath.Join(root, "tmp")); n != 1 || !slices.Equal(got, []string{fresh}) {
		t.Errorf("%d blobs; after the sweep tmp/ has %v, want only the fresh one", n, got)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("the cable fell out") }

// TestGone checks that a store whose folder has vanished, an unmounted disk say,
// is an error and never a miss.
func TestGone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	s := openAt(t, root)
	testkit.None(t, os.RemoveAll(root))
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

func FuzzPut(f *testing.F) {
	root := f.TempDir()
	s, err := dir.Open(root)
	testkit.None(f, err)
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

// inPlaceOf are things that can lie where a file of the store belongs.
var inPlaceOf = map[string]func(path string) error{
	"an empty folder": func(p string) error { return os.Mkdir(p, 0o755) },
	"a folder of 1": func(p string) error {
		return errors.Join(os.Mkdir(p, 0o755), os.WriteFile(filepath.Join(p, "x"), []byte("x"), 0o644))
	},
	"a link":         func(p string) error { return os.Symlink("/dev/zero", p) },
	"a link nowhere": func(p string) error { return os.Symlink("/nowhere/at/all", p) },
	"a pipe":         func(p string) error { return syscall.Mkfifo(p, 0o644) },
	"a socket":       func(p string) error { return syscall.Mknod(p, syscall.S_IFSOCK|0o644, 0) },
}

// TestInPlaceOf puts other things in the place of a blob and of a result's record:
// look-ups miss, reads find nothing and do not wait, verify names them, and either
// the step that runs again or verify --repair moves them aside.
func TestInPlaceOf(t *testing.T) {
	for what, put := range inPlaceOf {
		for _, of := range []string{"blob", "record"} {
			for _, repair := range []bool{false, true} {
				t.Run(what+" of a "+of, func(t *testing.T) { inPlace(t, put, of, repair) })
			}
		}
	}
}

func inPlace(t *testing.T, put func(string) error, of string, repair bool) {
	root := t.TempDir()
	s := openAt(t, root)
	result := storetest.NewResult(t, s, "step", map[string]string{"out": "the output"})
	storetest.Publish(t, s, result)
	d := artifacts.Sum([]byte("the output"))
	path, ok := s.Blobs.(artifacts.Local).LocalPath(d)
	if of == "record" {
		path = filepath.Join(root, "records", filepath.FromSlash(artifacts.RecordPath(artifacts.ResultName(result.Key))))
	} else if !ok {
		t.Fatal("no blob")
	}
	testkit.None(t, errors.Join(os.Remove(path), put(path)))
	if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), result.Key); hit != nil || err != nil {
		t.Fatalf("Lookup = %v, %v; want a miss", hit, err)
	}
	if of == "blob" {
		testkit.ErrIs(t, testkit.Err(s.Blobs.Open(t.Context(), d)), artifacts.ErrNotExist, "Open")
		testkit.None(t, s.Blobs.Delete(t.Context(), d), "Delete")
	}
	r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: repair})
	testkit.None(t, err)
	if !slices.ContainsFunc(r.Problems, func(p artifacts.Problem) bool {
		return strings.Contains(p.String(), path) && strings.Contains(p.String(), "in the place of "+of) && p.Repaired == repair
	}) {
		t.Errorf("problems %v; want %s", r.Problems, path)
	}
	again := storetest.NewResult(t, s, "step", map[string]string{"out": "the output"})
	if _, _, err := artifacts.Publish(t.Context(), artifacts.Alone(s), again); err != nil {
		t.Fatalf("the step that runs again: %v", err)
	}
	if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), result.Key); hit == nil || err != nil {
		t.Errorf("Lookup after that = %v, %v", hit, err)
	}
	if r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(r.Problems) > 0 {
		t.Errorf("problems after that: %v, %v", r.Problems, err)
	}
}

// TestFolderIsAFile: a file where a folder of the store belongs is a miss and moved
// aside, not an error for good.
func TestFolderIsAFile(t *testing.T) {
	root := t.TempDir()
	s := openAt(t, root)
	d := artifacts.Sum([]byte("x"))
	for _, p := range []string{filepath.Join(root, "blobs", d.Hex()[:2]), filepath.Join(root, "records", "runs")} {
		testkit.Write(t, p, "?")
	}
	if missing, err := s.Blobs.Missing(t.Context(), []artifacts.Digest{d}); err != nil || len(missing) != 1 {
		t.Errorf("Missing = %v, %v", missing, err)
	}
	testkit.ErrIs(t, testkit.Err(s.Records.Get(t.Context(), "runs/1")), artifacts.ErrNotExist, "Get")
	if r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(r.Problems) != 2 {
		t.Errorf("problems %v, %v; want both", r.Problems, err)
	}
	testkit.None(t, testkit.Err(artifacts.PutBytes(t.Context(), s.Blobs, []byte("x"))))
	testkit.None(t, s.Records.Create(t.Context(), "runs/1", []byte("{}")))
	if r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(r.Problems) != 0 {
		t.Errorf("problems %v, %v; want none", r.Problems, err)
	}
	testkit.Is(t, len(files(t, filepath.Join(root, "aside"))), 2, "aside")
}

// TestLinkedFolders: nothing lists a store, or deletes from it, of which a part lies behind a
// link; a link to the whole store, and one that is in no folder's place, are no matter.
func TestLinkedFolders(t *testing.T) {
	for at, refused := range map[string]bool{".": false, "blobs/mine": false, "records": true, "records/results": true, "blobs": true, "blobs/" + artifacts.Sum([]byte("some bytes")).Hex()[:2]: true} {
		root := filepath.Join(t.TempDir(), "store")
		s := openAt(t, root)
		r := storetest.NewResult(t, s, "k", map[string]string{"o": "some bytes"})
		storetest.Publish(t, s, r)
		testkit.None(t, s.Records.Put(t.Context(), "pins/keep", []byte(`"`+r.Key.String()+`"`)))
		link, disk := filepath.Join(root, at), filepath.Join(t.TempDir(), "disk")
		if err := os.Rename(link, disk); err != nil && at != "blobs/mine" {
			t.Fatal(err)
		}
		testkit.None(t, errors.Join(os.MkdirAll(filepath.Join(disk, "back"), 0o755), os.Symlink(disk, link)))
		s = openAt(t, root)
		report, verr := artifacts.Check(t.Context(), s, artifacts.CheckOptions{})
		_, gerr := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: time.Now().Add(100 * time.Hour)})
		for what, err := range map[string]error{"verify": verr, "gc": gerr} {
			if refused != (err != nil && strings.Contains(err.Error(), link+" is a link")) {
				t.Errorf("%s is a link, %s: %v", at, what, err)
			}
		}
		if !refused && (report.Results != 1 || report.Blobs != 1 || len(report.Problems) > 0) {
			t.Errorf("%s is a link, verify: %+v", at, report)
		}
		if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); hit == nil || err != nil {
			t.Errorf("%s is a link, after gc: %v, %v", at, hit, err)
		}
	}
	for _, at := range []string{"blobs", "records/results", "records/runs"} { // a disk that is not there
		root := t.TempDir()
		s := openAt(t, root)
		testkit.None(t, errors.Join(os.RemoveAll(filepath.Join(root, at)), os.Symlink("/nowhere/at/all", filepath.Join(root, at))))
		_, verr := artifacts.Check(t.Context(), s, artifacts.CheckOptions{})
		_, gerr := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: time.Now().Add(100 * time.Hour)})
		testkit.That(t, verr != nil && gerr != nil, at, "a link nowhere, is taken for an empty folder", verr, gerr)
	}
}

// TestRecordTooLong: a record that is longer than any that redsi writes is read no further,
// though somebody else's folder has it. One's own goes by verify --repair.
func TestRecordTooLong(t *testing.T) {
	root, key := t.TempDir(), artifacts.Digest{1}
	s := openAt(t, root)
	testkit.None(t, s.Records.Put(t.Context(), artifacts.ResultName(key), nil))
	path := filepath.Join(root, "records", filepath.FromSlash(artifacts.RecordPath(artifacts.ResultName(key))))
	if err := errors.Join(os.Chmod(path, 0o644), os.Truncate(path, 64<<20)); err != nil { // all of it a hole
		t.Fatal(err)
	}
	var damage *artifacts.DamageError
	if b, err := s.Records.Get(t.Context(), artifacts.ResultName(key)); !errors.As(err, &damage) {
		t.Fatalf("%d bytes, %v; want a DamageError", len(b), err)
	}
	testkit.ErrSays(t, testkit.Err(artifacts.Lookup(t.Context(), artifacts.Alone(s), key)), "verify --repair")
	if r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: true}); err != nil || len(r.Problems) != 1 || !r.Problems[0].Repaired {
		t.Errorf("Check: %v, %v", r.Problems, err)
	}
	if r, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), key); r != nil || err != nil {
		t.Errorf("then Lookup: %v, %v", r, err)
	}
}

// TestOpenReader: a folder that is read is not touched, be it a store or none.
func TestOpenReader(t *testing.T) {
	root := filepath.Join(t.TempDir(), "gone")
	s, err := dir.OpenReader(root)
	testkit.None(t, err)
	if _, err := s.Records.Get(t.Context(), "results/x"); err == nil || errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("a store that is not there: %v; that is no miss", err)
	}
	with := artifacts.With(openAt(t, t.TempDir()), []artifacts.Other{{Reader: s, Name: "gone"}}, artifacts.Policy{})
	found, err := artifacts.Inspect(t.Context(), with, []artifacts.Digest{{1}})
	if err != nil || len(found[artifacts.Digest{1}].Passed) != 1 || with.Others()[0].Err == nil {
		t.Errorf("%+v, %v, %+v", found, err, with.Others())
	}
	testkit.ErrIs(t, testkit.Err(os.Stat(root)), fs.ErrNotExist, "it was made")
	testkit.None(t, os.MkdirAll(filepath.Join(root, "blobs"), 0o555))
	testkit.None(t, os.MkdirAll(filepath.Join(root, "records"), 0o555))
	testkit.ErrIs(t, testkit.Err(s.Records.Get(t.Context(), "results/x")), artifacts.ErrNotExist)
	entries, err := os.ReadDir(root)
	testkit.None(t, err, "it has", entries)
	testkit.Is(t, len(entries), 2, "it has", entries)
}
