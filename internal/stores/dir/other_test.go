package dir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestRecordTooLong: a record that is longer than any that redsi writes is read no further,
// though somebody else's folder has it. One's own goes by verify --repair.
func TestRecordTooLong(t *testing.T) {
	root, key := t.TempDir(), artifacts.Digest{1}
	s := openAt(t, root)
	errtest.None(t, s.Records.Put(t.Context(), artifacts.ResultName(key), nil))
	path := filepath.Join(root, "records", filepath.FromSlash(artifacts.RecordPath(artifacts.ResultName(key))))
	if err := errors.Join(os.Chmod(path, 0o644), os.Truncate(path, 64<<20)); err != nil { // all of it a hole
		t.Fatal(err)
	}
	var damage *artifacts.DamageError
	if b, err := s.Records.Get(t.Context(), artifacts.ResultName(key)); !errors.As(err, &damage) {
		t.Fatalf("%d bytes, %v; want a DamageError", len(b), err)
	}
	errtest.Says(t, errtest.Of(artifacts.Lookup(t.Context(), artifacts.Alone(s), key)), "verify --repair")
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
	errtest.None(t, err)
	if _, err := s.Records.Get(t.Context(), "results/x"); err == nil || errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("a store that is not there: %v; that is no miss", err)
	}
	with := artifacts.With(openAt(t, t.TempDir()), []artifacts.Other{{Reader: s, Name: "gone"}}, artifacts.Policy{})
	found, err := artifacts.Inspect(t.Context(), with, []artifacts.Digest{{1}})
	if err != nil || len(found[artifacts.Digest{1}].Passed) != 1 || with.Others()[0].Err == nil {
		t.Errorf("%+v, %v, %+v", found, err, with.Others())
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(root, "blobs"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "records"), 0o555); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Records.Get(t.Context(), "results/x"); !errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("of an empty store: %v", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 {
		t.Errorf("it has %v, %v", entries, err)
	}
}
