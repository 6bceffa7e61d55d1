package realize_test

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/indextest"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

func wanted(recipe string) (w realize.Wanted, err error) {
	r, err := environment.Parse([]byte(recipe))
	if err != nil {
		return w, err
	}
	m, err := r.Manifest()
	if err != nil {
		return w, err
	}
	e, err := m.As("environment.py")
	if err != nil {
		return w, err
	}
	return realize.Want("environment.py", []byte(recipe), e.Text)
}

func recipeOf(t *testing.T, kind, lock string, files map[string]string) string {
	t.Helper()
	r := environment.Recipe{Format: environment.Format, Kind: kind, Lock: lock, Platform: environment.Here(), Files: files}
	if kind != environment.Conda {
		r.Python = indextest.Python(t)
	}
	text, err := r.Text()
	errtest.None(t, err)
	return string(text)
}

// uvRecipe is that of a project that needs alpha.
func uvRecipe(t *testing.T, x *indextest.Index) string {
	t.Helper()
	dir := t.TempDir()
	lock(t, x, dir, "alpha")
	return recipeOf(t, environment.UV, "uv.lock", map[string]string{"uv.lock": read(t, filepath.Join(dir, "uv.lock")), "pyproject.toml": read(t, filepath.Join(dir, "pyproject.toml"))})
}

// pylockRecipe is that of the same project, exported, with beta in a group as pdm writes it.
func pylockRecipe(t *testing.T, x *indextest.Index) string {
	t.Helper()
	dir := t.TempDir()
	lock(t, x, dir, "alpha")
	cmd := exec.Command("uv", "export", "--format", "pylock.toml", "--frozen", "--no-emit-project", "-o", "pylock.cpu.toml")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("uv export: %v\n%s", err, out)
	}
	text := strings.NewReplacer("[[packages]]\nname = \"alpha\"\n", "[[packages]]\nname = \"alpha\"\nmarker = \"'default' in dependency_groups\"\n",
		"[[packages]]\nname = \"beta\"\n", "[[packages]]\nname = \"beta\"\nmarker = \"'dev' in dependency_groups\"\n",
		"created-by", "default-groups = [\"default\"]\ndependency-groups = [\"default\", \"dev\"]\ncreated-by").Replace(read(t, filepath.Join(dir, "pylock.cpu.toml")))
	r := environment.Recipe{Format: environment.Format, Kind: environment.Pylock, Lock: "pylock.cpu.toml", Platform: environment.Here(), Python: indextest.Python(t),
		Groups: []string{"dev"}, Files: map[string]string{"pylock.cpu.toml": text}}
	return uvText(t, r)
}

// scriptRecipe is that of a script that needs alpha.
func scriptRecipe(t *testing.T, x *indextest.Index) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("# /// script\n# requires-python = \">=%s\"\n# dependencies = [\"alpha\"]\n# ///\nimport alpha\n", indextest.Python(t))
	filetest.Write(t, filepath.Join(dir, "fit.py"), script)
	cmd := exec.Command("uv", "lock", "--script", "fit.py", "--default-index", x.URL)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("uv lock: %v\n%s", err, out)
	}
	r := environment.Recipe{Format: environment.Format, Kind: environment.UV, Lock: "fit.py.lock", Platform: environment.Here(), Python: indextest.Python(t), Files: map[string]string{}}
	r.Add("fit.py", script)
	r.Add("fit.py.lock", read(t, filepath.Join(dir, "fit.py.lock")))
	return uvText(t, r)
}

// requirements is the text of a requirements file with all packages of an index.
func requirements(x *indextest.Index) string {
	text := "--index-url " + x.URL + "\n"
	for _, name := range slices.Sorted(maps.Keys(x.Hashes)) {
		parts := strings.Split(name, "-")
		text += fmt.Sprintf("%s==%s \\\n    --hash=sha256:%s\n", parts[0], parts[1], x.Hashes[name])
	}
	return text
}

// lock writes a pyproject.toml that needs a package and, by uv, its uv.lock.
func lock(t *testing.T, x *indextest.Index, dir, needs string) {
	t.Helper()
	text := fmt.Sprintf("[project]\nname = \"study\"\nversion = \"0.1\"\nrequires-python = \">=%s\"\ndependencies = [%q]\n", indextest.Python(t), needs)
	filetest.Write(t, filepath.Join(dir, "pyproject.toml"), text)
	cmd := exec.Command("uv", "lock", "--default-index", x.URL)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("uv lock: %v\n%s", err, out)
	}
}

func uvText(t *testing.T, r environment.Recipe) string {
	t.Helper()
	text, err := r.Text()
	errtest.None(t, err)
	return string(text)
}
