package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/dir"
	"github.com/redsi/redsi/artifacts/mem"
)

func readCheckpoint(t *testing.T, c *checkpoints, f artifacts.File) string {
	t.Helper()
	r, err := c.Open(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func saveCheckpoint(t *testing.T, c *checkpoints, n int64, name, text string) artifacts.File {
	t.Helper()
	f, err := c.Put(t.Context(), name, strings.NewReader(text))
	if err == nil {
		err = c.Save(t.Context(), n, map[string]artifacts.File{name: f})
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestForgedCheckpoint: the names of a checkpoint's files are whatever a writer of
// the store puts there.
func TestForgedCheckpoint(t *testing.T) {
	s := mem.New()
	c := &checkpoints{records: s.Records, blobs: s.Blobs, key: artifacts.Sum([]byte("key"))}
	f := saveCheckpoint(t, c, 7, "state", "seven")
	for _, record := range []string{
		`{"../../x":{"name":"../../x","digest":"%s","size":1}}`, `{"/etc/x":{"name":"/etc/x","digest":"%s","size":1}}`,
		`{"a":{"name":"b","digest":"%s","size":1}}`, `{"a":{"name":"a","digest":"%s","size":-1}}`,
		`{"a":{"name":"a","digest":"%s","size":1},"a/b":{"name":"a/b","digest":"%[1]s","size":1}}`, `{}%.0s`, `[]%.0s`, `{%.0s`,
	} {
		err := s.Records.Put(context.Background(), artifacts.CheckpointName(c.key, 8), fmt.Appendf(nil, record, f.Digest))
		if err != nil {
			t.Fatal(err)
		}
		n, files, ok, err := c.Latest(t.Context())
		if err != nil || !ok || n != 7 || readCheckpoint(t, c, files["state"]) != "seven" {
			t.Errorf("%s: checkpoint %d, %v, %v", record, n, ok, err)
		}
	}
}

// TestDamagedCheckpoint: the newest checkpoint that can be read is used, or none.
func TestDamagedCheckpoint(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &checkpoints{records: s.Records, blobs: s.Blobs, key: artifacts.Sum([]byte("key"))}
	one := saveCheckpoint(t, c, 1, "state", "one")
	two := saveCheckpoint(t, c, 2, "state", "two")
	damage := func(f artifacts.File) {
		path, ok := s.Blobs.(artifacts.Local).LocalPath(f.Digest)
		if !ok {
			t.Fatal("no such blob")
		}
		if err := errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, []byte("redsi checkpoint "+c.key.Hex()+"\nbad"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	latest := func() (int64, bool) {
		n, _, ok, err := c.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n, ok
	}
	if n, ok := latest(); n != 2 || !ok {
		t.Fatalf("checkpoint %d, %v", n, ok)
	}
	damage(two)
	if n, ok := latest(); n != 1 || !ok {
		t.Fatalf("checkpoint %d, %v; want the one before the damaged one", n, ok)
	}
	damage(one)
	if _, ok := latest(); ok {
		t.Fatal("a damaged checkpoint is the newest")
	}
}
