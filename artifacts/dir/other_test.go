package dir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/dir"
	"github.com/redsi/redsi/artifacts/storetest"
)

func TestOthers(t *testing.T) {
	storetest.Others(t, func(t *testing.T) storetest.Theirs {
		root := t.TempDir()
		other, err := dir.OpenReader(root)
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Theirs{Store: openAt(t, root), Other: artifacts.Other{Store: other, Name: "colleague"},
			Rewrite: func(d artifacts.Digest, data []byte) { rewrite(t, root, d, data) }}
	})
}

func rewrite(t *testing.T, root string, d artifacts.Digest, data []byte) {
	t.Helper()
	path := filepath.Join(root, "blobs", filepath.FromSlash(artifacts.BlobPath(d)))
	if err := errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestOpenReader: a folder that is read is not touched, be it a store or none.
func TestOpenReader(t *testing.T) {
	root := filepath.Join(t.TempDir(), "gone")
	s, err := dir.OpenReader(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Records.Get(t.Context(), "results/x"); err == nil || errors.Is(err, artifacts.ErrNotExist) {
		t.Errorf("a store that is not there: %v; that is no miss", err)
	}
	with := artifacts.With(openAt(t, t.TempDir()), []artifacts.Other{{Store: s, Name: "gone"}}, artifacts.Policy{})
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
	var refused *artifacts.RefusedError
	if _, err := artifacts.PutBytes(t.Context(), s.Blobs, []byte("x")); !errors.As(err, &refused) {
		t.Errorf("put: %v", err)
	}
}
