package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestHashedOnce: what was hashed when it was stored is not hashed again for a reader, unless it has
// changed.
func TestHashedOnce(t *testing.T) {
	root := t.TempDir()
	s, err := dir.Open(filepath.Join(root, "store"))
	testkit.None(t, err)
	c := cache{filepath.Join(root, "cache"), cacheLimit}
	sealed := func(d artifacts.Digest) bool {
		var proof hashed.Proof
		b, err := os.ReadFile(c.notePath(d))
		return err == nil && json.Unmarshal(b, &proof) == nil && proof.Sealed
	}
	for name, store := range map[string]func(content []byte) (artifacts.Digest, int64, error){
		"Put": func(b []byte) (artifacts.Digest, int64, error) {
			return Put(t.Context(), s.Blobs, bytes.NewReader(b), c.dir)
		},
		"Take": func(b []byte) (artifacts.Digest, int64, error) {
			path := filepath.Join(root, "out")
			testkit.Write(t, path, b)
			return Take(t.Context(), s.Blobs, path, c.dir)
		},
	} {
		content := bytes.Repeat([]byte(name), Large)
		d, n, err := store(content)
		if err != nil || d != artifacts.Sum(content) || n != int64(len(content)) {
			t.Fatalf("%s = %s, %d, %v", name, d, n, err)
		}
		path, err := Fetch(t.Context(), s.Blobs, d, c.dir)
		if err != nil || !sealed(d) { // a note that was made by hashing it is not
			t.Errorf("%s: it was hashed again, %v", name, err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil { // of another account than root
			if err = os.Chmod(path, 0o644); err == nil {
				f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			}
		}
		testkit.None(t, err)
		testkit.None(t, testkit.Err(f.Write([]byte{0})))
		f.Close()
		var bad *artifacts.IntegrityError
		if _, err := Fetch(t.Context(), s.Blobs, d, c.dir); !errors.As(err, &bad) {
			t.Errorf("%s: a changed blob: %v", name, err)
		}
		if d, _, err := store([]byte("short")); err != nil || sealed(d) {
			t.Errorf("%s: a short blob is noted, %v", name, err)
		}
	}
}

// TestTakeElsewhere: a store that is not of files gets a copy.
func TestTakeElsewhere(t *testing.T) {
	s := mem.New()
	path := filepath.Join(t.TempDir(), "out")
	testkit.Write(t, path, "text")
	d, n, err := Take(t.Context(), s.Blobs, path, t.TempDir())
	if err != nil || n != 4 {
		t.Fatal(n, err)
	}
	if b, err := artifacts.ReadBlob(t.Context(), s.Blobs, d, 9); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestCacheLimit(t *testing.T) {
	s := mem.New()
	c := cache{t.TempDir(), 250}
	var ds []artifacts.Digest
	for i := range 4 {
		d := storetest.Put(t, s, bytes.Repeat([]byte{byte(i)}, 100))
		ds = append(ds, d)
	}
	has := func(d artifacts.Digest) bool {
		_, err := os.Stat(filepath.Join(c.dir, "blobs", d.Hex()))
		return err == nil
	}
	for i, d := range ds[:3] {
		testkit.None(t, testkit.Err(c.fetch(t.Context(), s.Blobs, d)))
		if !has(ds[0]) {
			t.Fatalf("fetch %d dropped a copy that was just handed out", i)
		}
	}
	for i, d := range ds[:3] { // the second one was used last
		used := time.Now().Add(-[]time.Duration{5, 2, 4}[i] * time.Hour)
		testkit.None(t, os.Chtimes(filepath.Join(c.dir, "verified", d.Hex()+".json"), used, used))
	}
	testkit.None(t, testkit.Err(c.fetch(t.Context(), s.Blobs, ds[3])))
	if has(ds[0]) || !has(ds[1]) || has(ds[2]) || !has(ds[3]) {
		t.Errorf("kept %v %v %v %v, want the two used last", has(ds[0]), has(ds[1]), has(ds[2]), has(ds[3]))
	}
}
