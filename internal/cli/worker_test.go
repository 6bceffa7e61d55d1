package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/testkit"
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
		testkit.Write(t, path, text)
	}
	testkit.None(t, os.Symlink(filepath.Join(top, "out", "m.hcl"), filepath.Join(top, "in", "linked", "more.hcl")))
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
