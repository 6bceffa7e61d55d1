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
	"github.com/redsi/redsi/internal/system/testkit"
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

// textOf is the text of a recipe for this machine.
func textOf(t *testing.T, r environment.Recipe) string {
	t.Helper()
	r.Format, r.Platform = environment.Format, environment.Here()
	text, err := r.Text()
	testkit.None(t, err)
	return string(text)
}

func requirementsRecipe(t *testing.T, text string) string {
	t.Helper()
	const name = "requirements.txt"
	return textOf(t, environment.Recipe{Kind: environment.Requirements, Lock: name, Python: indextest.Python(t), Files: map[string]string{name: text}})
}

// uv runs uv in a folder.
func uv(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("uv", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	testkit.None(t, err, args, string(out))
}

// uvRecipe is that of a project that needs alpha.
func uvRecipe(t *testing.T, x *indextest.Index) string {
	t.Helper()
	dir := t.TempDir()
	lock(t, x, dir, "alpha")
	return textOf(t, environment.Recipe{Kind: environment.UV, Lock: "uv.lock", Python: indextest.Python(t),
		Files: map[string]string{"uv.lock": testkit.Text(t, filepath.Join(dir, "uv.lock")), "pyproject.toml": testkit.Text(t, filepath.Join(dir, "pyproject.toml"))}})
}

// pylockRecipe is that of the same project, exported, with beta in a group as pdm writes it.
func pylockRecipe(t *testing.T, x *indextest.Index) string {
	t.Helper()
	dir := t.TempDir()
	lock(t, x, dir, "alpha")
	uv(t, dir, "export", "--format", "pylock.toml", "--frozen", "--no-emit-project", "-o", "pylock.cpu.toml")
	text := strings.NewReplacer("[[packages]]\nname = \"alpha\"\n", "[[packages]]\nname = \"alpha\"\nmarker = \"'default' in dependency_groups\"\n",
		"[[packages]]\nname = \"beta\"\n", "[[packages]]\nname = \"beta\"\nmarker = \"'dev' in dependency_groups\"\n",
		"created-by", "default-groups = [\"default\"]\ndependency-groups = [\"default\", \"dev\"]\ncreated-by").Replace(testkit.Text(t, filepath.Join(dir, "pylock.cpu.toml")))
	return textOf(t, environment.Recipe{Kind: environment.Pylock, Lock: "pylock.cpu.toml", Python: indextest.Python(t), Groups: []string{"dev"},
		Files: map[string]string{"pylock.cpu.toml": text}})
}

// scriptRecipe is that of a script that needs alpha.
func scriptRecipe(t *testing.T, x *indextest.Index) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("# /// script\n# requires-python = \">=%s\"\n# dependencies = [\"alpha\"]\n# ///\nimport alpha\n", indextest.Python(t))
	testkit.Write(t, filepath.Join(dir, "fit.py"), script)
	uv(t, dir, "lock", "--script", "fit.py", "--default-index", x.URL)
	r := environment.Recipe{Kind: environment.UV, Lock: "fit.py.lock", Python: indextest.Python(t), Files: map[string]string{}}
	r.Add("fit.py", script)
	r.Add("fit.py.lock", testkit.Text(t, filepath.Join(dir, "fit.py.lock")))
	return textOf(t, r)
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
	testkit.Write(t, filepath.Join(dir, "pyproject.toml"), text)
	uv(t, dir, "lock", "--default-index", x.URL)
}
