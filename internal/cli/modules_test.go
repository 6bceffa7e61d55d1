package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/kinds"
)

// TestWorkerModules: the files and modules of a pipeline that a workflow names lie where the
// worker accepts pipelines.
func TestWorkerModules(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{
		"in/good.hcl":   "module \"m\" {\n  source = \"./m.hcl\"\n}\n",
		"in/bad.hcl":    "module \"m\" {\n  source = \"../out/m.hcl\"\n}\n",
		"in/remote.hcl": "module \"m\" {\n  source = \"git::file:///nowhere?ref=v1\"\n}\n",
		"in/m.hcl":      "",
		"out/m.hcl":     "",

		"in/whole/pipelines.hcl":  "locals {\n  x = local.y\n}\n",
		"in/whole/more.hcl":       "locals {\n  y = 1\n}\n",
		"in/linked/pipelines.hcl": "",
		"in/module.hcl":           "module \"m\" {\n  source = \"./linked\"\n}\n",
	} {
		path := filepath.Join(top, name)
		filetest.Write(t, path, text)
	}
	errtest.None(t, os.Symlink(filepath.Join(top, "out", "m.hcl"), filepath.Join(top, "in", "linked", "more.hcl")))
	a := newApp(&session.Session{Registry: kinds.Registry(), StateDir: filepath.Join(top, "state")}, nil, nil)
	accept := (&activities.Activities{Accept: []string{filepath.Join(top, "in")}}).Accepts
	const refused = "does not accept"
	for file, want := range map[string]string{"good.hcl": "", "bad.hcl": refused, "remote.hcl": "is not pinned",
		"whole/pipelines.hcl": "", "linked/pipelines.hcl": refused, "linked": refused, "module.hcl": refused} {
		_, _, err := a.OpenForWorker(t.Context(), accept, filepath.Join(top, "in", file), nil, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

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
