package redsi

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMain lets the tests call this test program as redsi.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"redsi": func() { Main(Kinds()...) }})
}

// TestPaper: what redsi init --paper writes is the pipeline of the tree, whole: the files that
// the map at the head of pipelines.hcl names, and all assets. It makes the same keys, so it
// needs nothing else of the tree.
func TestPaper(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "paper")
	redsi := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("redsi", args...).CombinedOutput()
		testkit.None(t, err, args, out)
		return string(out)
	}
	testkit.Says(t, redsi("init", "--paper", "redsi", folder), "&& redsi run --var scale=toy -t table.")
	want := files(t, "assets")
	for _, m := range regexp.MustCompile(`(?m)^# ([a-z_.]+\.hcl)(?:$| |,)`).FindAllStringSubmatch(read(t, "pipelines.hcl"), -1) {
		want[m[1]] = read(t, m[1])
	}
	if out, err := exec.Command("redsi", "init", "--paper", "resdi", folder).CombinedOutput(); err == nil || !strings.Contains(string(out), "this redsi has redsi\n") {
		t.Errorf("another name: %v, %s", err, out)
	}
	got := files(t, folder)
	testkit.Says(t, got[".gitignore"], "redsi.local.hcl\n")
	delete(got, ".gitignore")
	testkit.Deep(t, got, want)
	keys := func(at string) map[string]string {
		var plan struct {
			Steps []struct{ Address, Key string }
		}
		out := redsi("plan", "--json", "--log-level", "error", "--var", "scale=toy", "-f", at, "--state", filepath.Join(folder, ".redsi"))
		testkit.None(t, json.Unmarshal([]byte(out), &plan))
		keys := map[string]string{}
		for _, s := range plan.Steps {
			keys[s.Address] = s.Key
		}
		return keys
	}
	if here, there := keys("pipelines.hcl"), keys(filepath.Join(folder, "pipelines.hcl")); len(here) < 300 || !maps.Equal(here, there) {
		t.Errorf("%d keys in the tree, %d of what was written, or others", len(here), len(there))
	}
}

// files are a folder's files by their paths, those of assets as the paper has them: without Go.
func files(t *testing.T, folder string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) == ".go" {
			return err
		}
		name := p
		if filepath.IsAbs(folder) {
			name, err = filepath.Rel(folder, p)
		}
		all[filepath.ToSlash(name)] = read(t, p)
		return err
	})
	testkit.None(t, err)
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	testkit.None(t, err)
	return string(b)
}
