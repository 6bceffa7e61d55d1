package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/kinds"
)

// TestWorkerModules: the modules of a pipeline that a workflow names lie where the worker
// accepts pipelines.
func TestWorkerModules(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"in/good.hcl":   "module \"m\" {\n  source = \"./m.hcl\"\n}\n",
		"in/bad.hcl":    "module \"m\" {\n  source = \"../out/m.hcl\"\n}\n",
		"in/remote.hcl": "module \"m\" {\n  source = \"git::file:///nowhere?ref=v1\"\n}\n",
		"in/m.hcl":      "",
		"out/m.hcl":     "",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := &app{Registry: kinds.Registry(), StateDir: filepath.Join(top, "state")}
	refused := errors.New("only pipelines of in/")
	accept := func(file string) error {
		if filepath.Base(filepath.Dir(file)) != "in" {
			return refused
		}
		return nil
	}
	for file, want := range map[string]string{"good.hcl": "", "bad.hcl": refused.Error(), "remote.hcl": "is not pinned"} {
		_, _, err := a.openForWorker(t.Context(), accept, filepath.Join(top, "in", file), nil, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
