package activities

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestAccepts: a workflow names pipeline files only in folders that were given.
func TestAccepts(t *testing.T) {
	top := t.TempDir()
	inside, outside := filepath.Join(top, "in"), filepath.Join(top, "inside-not")
	for _, d := range []string{filepath.Join(inside, "sub"), outside} {
		filetest.Write(t, filepath.Join(d, "p.hcl"), "")
	}
	for link, to := range map[string]string{"out.hcl": filepath.Join(outside, "p.hcl"), "folder": outside} {
		errtest.None(t, os.Symlink(to, filepath.Join(inside, link)))
	}
	for file, want := range map[string]bool{"sub/p.hcl": true, "sub": true, ".": true, "none.hcl": true,
		"out.hcl": false, "folder/p.hcl": false, "../inside-not/p.hcl": false, "..": false, "sub/../../inside-not/p.hcl": false} {
		err := (&Activities{Accept: []string{inside}}).Accepts(filepath.Join(inside, file))
		if (err == nil) != want {
			t.Errorf("%s: %v", file, err)
		}
		if err != nil && (!step.IsPermanent(err) || !strings.Contains(err.Error(), "--accept-pipelines")) {
			t.Errorf("%s: the refusal says %v", file, err)
		}
	}
	if err := new(Activities).Accepts(filepath.Join(inside, "sub", "p.hcl")); err == nil {
		t.Error("a worker that was given no folder accepts a file")
	}
}

// TestJournalPinsOnAnyWorker: the lock file is named by the run, not remembered by
// the worker that loaded it, and is written in accepted folders only.
func TestJournalPinsOnAnyWorker(t *testing.T) {
	folder := t.TempDir()
	lock := filepath.Join(folder, lockfile.Name)
	pin := step.Pin{Source: "https://example.org/a", SHA256: artifacts.Sum([]byte("a")), Size: 1}
	page, _, err := workflows.Pack([]step.Pin{pin})
	errtest.None(t, err)
	req := workflows.JournalRequest{Run: runs.Record{RunID: "1", Plan: artifacts.Sum(nil)}, Pins: workflows.Pages[step.Pin]{Page: page}, Lock: lock}
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler)}
	errtest.None(t, a.Journal(t.Context(), req))
	if _, err := os.Stat(lock); err == nil {
		t.Fatal("a worker wrote into a folder that it was not given")
	}
	a.Accept = []string{folder}
	errtest.None(t, a.Journal(t.Context(), req))
	if f, err := lockfile.Read(lock); err != nil || len(f.Sources) != 1 || f.Sources[0] != pin {
		t.Errorf("%+v, %v", f, err)
	}
	req.Lock = filepath.Join(folder, "authorized_keys")
	errtest.None(t, a.Journal(t.Context(), req))
	if _, err := os.Stat(req.Lock); err == nil {
		t.Error("it wrote a file of another name")
	}
}
