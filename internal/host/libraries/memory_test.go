package libraries

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMemory: what has not moved is not read again, in this process or the next one; what
// has is, though size and time were set back.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	site := venv(t, filepath.Join(dir, "env"), base(t, filepath.Join(dir, "base")))
	program, file := filepath.Join(dir, "env", "bin", "python"), filepath.Join(dir, "memo.json")
	later := func() time.Time { return time.Now().Add(time.Hour) }
	read := func(m *Memory) (e *Environment, n int64) {
		t.Helper()
		before := m.reads.Load()
		e, err := m.Of(t.Context(), program, exec.LookPath)
		testkit.None(t, err)
		return e, m.reads.Load() - before
	}
	m := &Memory{File: file}
	first, n := read(m)
	if n == 0 {
		t.Fatal("nothing was read")
	}
	if _, n := read(m); n == 0 {
		t.Error("what was written just now is believed")
	}
	m.now = later
	read(m)
	if e, n := read(m); n != 0 || e.Digest != first.Digest {
		t.Errorf("it was read again, %d times", n)
	}
	testkit.None(t, m.Save())
	m = &Memory{File: file, now: later}
	if e, n := read(m); n != 0 || e.Digest != first.Digest || e.String() != first.String() {
		t.Errorf("in another process: read %d times, %s", n, e)
	}
	write(t, filepath.Join(site, "pip", "__init__.py"), "pop")
	at(t, filepath.Join(site, "pip", "__init__.py"), installedAt)
	if e, err := m.Recall(program, exec.LookPath); err != nil || e.Digest != first.Digest {
		t.Errorf("what was read last: %v, %v", e, err)
	}
	if _, n := read(m); n == 0 {
		t.Error("a file that changed was not looked at")
	}
	if e, err := m.Recall(filepath.Join(dir, "base", "bin", "python3.11"), exec.LookPath); e != nil || err != nil {
		t.Errorf("what was never read: %v, %v", e, err)
	}
	write(t, file, "damaged")
	if e, _ := read(&Memory{File: file}); e == nil {
		t.Error("a damaged memory")
	}
}
