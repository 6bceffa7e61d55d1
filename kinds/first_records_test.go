package kinds_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

const firstRecords = `
variable "file" {}
step "download" "nq" { urls = [var.file] }
step "format_fields" "nq" {
  full  = step.download.nq.files
  lines = 1
}
step "format_example" "nq" {
  full       = step.download.nq.files
  simplified = step.download.nq.files
}
`

// TestFirstRecordsAreVerified: a kind that needs the first records alone trusts none of
// a file that is damaged behind them.
func TestFirstRecordsAreVerified(t *testing.T) {
	l := newLocal(t)
	store, err := dir.Open(t.TempDir())
	errtest.None(t, err)
	l.Store = artifacts.Alone(store)
	file := write(t, t.TempDir(), "p.hcl", firstRecords)
	vars := map[string]string{"file": testdata(t, "corpora", "nq", "testdata", "real-pages-dev-full.jsonl.gz")}
	for _, target := range []string{"step.format_fields.nq", "step.format_example.nq"} {
		got := l.run(l.plan(file, vars, "step.download.nq"))[0].Outputs["files"].Files[0] // anew: a damaged blob is dropped
		path, _ := l.Store.Own.Blobs.(artifacts.Local).LocalPath(got.Digest)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-1] ^= 1
		if err := errors.Join(os.Remove(path), os.WriteFile(path, b, 0o444)); err != nil {
			t.Fatal(err)
		}
		if _, err = l.try(l.plan(file, vars, target)); err == nil || !strings.Contains(err.Error(), got.Digest.String()+" is corrupt") {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestFirstRecordsAreReadOnce: who needs the first records takes a file from the store
// once, however many steps do.
func TestFirstRecordsAreReadOnce(t *testing.T) {
	l := newLocal(t)
	file := write(t, t.TempDir(), "p.hcl", firstRecords)
	vars := map[string]string{"file": testdata(t, "corpora", "nq", "testdata", "real-pages-dev-full.jsonl.gz")}
	got := l.run(l.plan(file, vars, "step.download.nq"))[0].Outputs["files"].Files[0]
	passes := 0
	l.Store = artifacts.Alone(storetest.Hooked(l.Store.Own, storetest.Before(func(_ context.Context, c *storetest.Call) error {
		if c.Method == storetest.BlobsOpen && c.Digest == got.Digest {
			passes++
		}
		return nil
	})))
	l.run(l.plan(file, vars))
	if passes != 1 {
		t.Errorf("the file was read %d times from the store", passes)
	}
}
