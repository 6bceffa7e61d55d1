package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestDamagedChecks: JSON that something stands behind is not what the table had.
func TestDamagedChecks(t *testing.T) {
	dir := t.TempDir()
	store, err := open.Store(t.Context(), dir)
	errtest.None(t, err)
	d, _, err := store.Blobs.Put(t.Context(), strings.NewReader(`{"stubs": []}`))
	errtest.None(t, err)
	r := &artifacts.Result{Outputs: map[string]artifacts.Artifact{"json": {Type: "table/json", Digest: d}}}
	errtest.None(t, errtest.Of(expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open)))
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(d.Hex(), e.Name()) {
			return err
		}
		if err := os.Chmod(path, 0o644); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(`{"stubs": []} `), 0o644)
	})
	errtest.None(t, err)
	var damaged *artifacts.IntegrityError
	if _, err := expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open); !errors.As(err, &damaged) {
		t.Errorf("a damaged blob: %v", err)
	}
}
