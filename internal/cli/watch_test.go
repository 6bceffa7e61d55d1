package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// TestAwait: a change is told once nothing changes any more; a file that comes or goes is a change, and
// one that changed during the run is told at once.
func TestAwait(t *testing.T) {
	at := func(n int64) hashed.Stamp { return hashed.Stamp{Size: n} }
	old := stamps{"a": at(1), "b": at(1)}
	for name, c := range map[string]struct {
		looks []stamps
		want  []string
	}{
		"edited":         {[]stamps{old, {"a": at(2), "b": at(1)}, {"a": at(3), "b": at(1)}, {"a": at(3), "b": at(1)}}, []string{"a"}},
		"two":            {[]stamps{{"a": at(2), "b": at(1)}, {"a": at(2), "b": {}}, {"a": at(2), "b": {}}}, []string{"a", "b"}},
		"new":            {[]stamps{{"a": at(1), "b": at(1), "c": at(1)}, {"a": at(1), "b": at(1), "c": at(1)}}, []string{"c"}},
		"and back again": {[]stamps{{"a": at(2), "b": at(1)}, old, old}, nil},
	} {
		ctx, stop := context.WithCancel(t.Context())
		ticks := make(chan time.Time, len(c.looks))
		for range c.looks {
			ticks <- time.Time{}
		}
		got := await(ctx, old, func() stamps {
			now := c.looks[0]
			if c.looks = c.looks[1:]; len(c.looks) == 0 && c.want == nil {
				stop()
			}
			return now
		}, ticks)
		if stop(); !slices.Equal(got, c.want) || len(c.looks) > 0 {
			t.Errorf("%s: %v, %d looks left", name, got, len(c.looks))
		}
	}
}

// TestLook: watched are the files of the pipeline's folder and what a plan has read, also while they are
// not there, and no settings, which are read once.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pipelines.hcl")
	a := newApp(&session.Session{File: file, VarFiles: []string{filepath.Join(dir, "gone.json")}}, io.Discard, io.Discard)
	for _, name := range []string{"pipelines.hcl", "more.hcl", "other.txt", "redsi.local.hcl"} {
		filetest.Write(t, filepath.Join(dir, name), "x")
	}
	before := a.look()
	if len(before) != 3 || before[file].Size != 1 || before[filepath.Join(dir, "gone.json")] != (hashed.Stamp{}) {
		t.Errorf("%v", before)
	}
	errtest.None(t, os.Remove(file))
	if got := a.look().changed(before); !slices.Equal(got, []string{file}) {
		t.Errorf("changed %v", got)
	}
}
