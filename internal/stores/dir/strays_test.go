package dir_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

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
	errtest.None(t, errors.Join(os.Remove(path), put(path)))
	if hit, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), result.Key); hit != nil || err != nil {
		t.Fatalf("Lookup = %v, %v; want a miss", hit, err)
	}
	if of == "blob" {
		if _, err := s.Blobs.Open(t.Context(), d); !errors.Is(err, artifacts.ErrNotExist) {
			t.Errorf("Open: %v", err)
		}
		if err := s.Blobs.Delete(t.Context(), d); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: repair})
	errtest.None(t, err)
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
		filetest.Write(t, p, "?")
	}
	if missing, err := s.Blobs.Missing(t.Context(), []artifacts.Digest{d}); err != nil || len(missing) != 1 {
		t.Errorf("Missing = %v, %v", missing, err)
	}
	if _, err := s.Records.Get(t.Context(), "runs/1"); !errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("Get: %v", err)
	}
	if r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(r.Problems) != 2 {
		t.Errorf("problems %v, %v; want both", r.Problems, err)
	}
	if _, err := artifacts.PutBytes(t.Context(), s.Blobs, []byte("x")); err != nil {
		t.Error(err)
	}
	if err := s.Records.Create(t.Context(), "runs/1", []byte("{}")); err != nil {
		t.Error(err)
	}
	if r, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(r.Problems) != 0 {
		t.Errorf("problems %v, %v; want none", r.Problems, err)
	}
	if got := files(t, filepath.Join(root, "aside")); len(got) != 2 {
		t.Errorf("aside: %v", got)
	}
}

// TestLinkedFolders: nothing lists a store, or deletes from it, of which a part lies behind a
// link; a link to the whole store, and one that is in no folder's place, are no matter.
func TestLinkedFolders(t *testing.T) {
	for at, refused := range map[string]bool{".": false, "blobs/mine": false, "records": true, "records/results": true, "blobs": true, "blobs/" + artifacts.Sum([]byte("some bytes")).Hex()[:2]: true} {
		root := filepath.Join(t.TempDir(), "store")
		s := openAt(t, root)
		r := storetest.NewResult(t, s, "k", map[string]string{"o": "some bytes"})
		storetest.Publish(t, s, r)
		errtest.None(t, s.Records.Put(t.Context(), "pins/keep", []byte(`"`+r.Key.String()+`"`)))
		link, disk := filepath.Join(root, at), filepath.Join(t.TempDir(), "disk")
		if err := os.Rename(link, disk); err != nil && at != "blobs/mine" {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(disk, "back"), 0o755), os.Symlink(disk, link)); err != nil {
			t.Fatal(err)
		}
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
		errtest.None(t, errors.Join(os.RemoveAll(filepath.Join(root, at)), os.Symlink("/nowhere/at/all", filepath.Join(root, at))))
		_, verr := artifacts.Check(t.Context(), s, artifacts.CheckOptions{})
		_, gerr := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: time.Now().Add(100 * time.Hour)})
		if verr == nil || gerr == nil {
			t.Errorf("%s, a link nowhere, is taken for an empty folder: %v, %v", at, verr, gerr)
		}
	}
}
