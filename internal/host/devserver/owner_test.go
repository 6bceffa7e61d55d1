package devserver

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// claimed writes a claim of another machine.
func claimed(t *testing.T, dir string, number int) (file string) {
	t.Helper()
	b, err := json.Marshal(owner{Host: "login2", Boot: "another", Since: time.Now()})
	testkit.None(t, err)
	file = filepath.Join(dir, fmt.Sprintf("owner.%d", number))
	testkit.Write(t, file, string(b))
	return file
}

// TestElsewhere: a machine is told in five seconds that another one's server has the folder, and starts none. Locks are as
// where each machine has its own: nobody here holds one.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := claimed(t, dir, 7)
	go func() { // beats
		for t.Context().Err() == nil {
			time.Sleep(2 * time.Second)
			_ = os.WriteFile(file, []byte(`{"host":"login2","boot":"another","since":"2026-11-29T10:43:00Z"}`), 0o600)
		}
	}()
	began := time.Now()
	_, err := Join(t.Context(), Options{Program: found(t), Dir: dir, Idle: idle})
	if took := time.Since(began); !errors.Is(err, ErrElsewhere) || took > 5*time.Second {
		t.Errorf("%v, after %s", err, took)
	}
	testkit.ErrSays(t, err, "login2, since", "--state", "--store")
	if _, ok := Running(dir); ok || !strings.Contains(Elsewhere(dir), "login2") {
		t.Errorf("a server is running, or %q", Elsewhere(dir))
	}
	testkit.ErrIs(t, testkit.Err(os.Stat(filepath.Join(dir, "temporal.db"))), os.ErrNotExist, "a server was started")
}

// TestSilent: the folder of a machine that is gone is taken over, after a look; a server that was only stopped meanwhile
// ends, and touches nothing.
func TestSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Minute)
	testkit.None(t, os.Chtimes(claimed(t, dir, 3), old, old))
	s := joined(t, Options{Dir: dir})
	if o, other := elsewhere(dir, 0); other || o.number != 4 {
		t.Fatalf("%+v is in force", o)
	}
	claimed(t, dir, 5)
	testkit.None(t, os.Remove(filepath.Join(dir, "owner.4")))
	for ctx := patiently(t); s.Info.alive(); {
		testkit.None(t, (&patience{}).wait(ctx))
	}
	testkit.None(t, testkit.Err(os.Stat(filepath.Join(dir, InfoFile))), "it removed what may be another server's")
	testkit.None(t, os.Remove(filepath.Join(dir, "owner.5")))
}
