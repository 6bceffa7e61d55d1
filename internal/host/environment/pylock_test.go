package environment

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// pylockRecipe is that of a lock in testdata, of a project that needs six, markupsafe and, on
// Windows, colorama; its extra "plots" needs iniconfig, its group "dev" pluggy. It was written by
// uv 0.13.9 (uv export --format pylock.toml --all-extras --all-groups), pip 26.3 (pip lock, without
// extras and groups), pdm 2.29.4 (lock.format pylock, pdm lock -G :all) or poetry 2.5.1 with its
// plugin export 1.10.1 (poetry export -f pylock.toml --all-extras --with dev); addresses are others,
// and some wheels were left out.
func pylockRecipe(t *testing.T, tool string, change ...string) Recipe {
	t.Helper()
	name := "pylock." + tool + ".toml"
	text := testkit.Text(t, filepath.Join("testdata", name))
	for i := 0; i < len(change); i += 2 {
		if !strings.Contains(text, change[i]) {
			t.Fatalf("%s has no %s", name, change[i])
		}
		text = strings.Replace(text, change[i], change[i+1], 1)
	}
	return Recipe{Format: Format, Kind: Pylock, Lock: name, Platform: "linux-x86_64", Python: "3.11", Files: map[string]string{name: text}}
}

func TestPylock(t *testing.T) {
	const needs, all = "markupsafe 3.0.2, six 1.17.0", "iniconfig 2.0.0, markupsafe 3.0.2, pluggy 1.5.0, six 1.17.0"
	for i, c := range []struct {
		want string
		r    Recipe
	}{
		{all, pylockRecipe(t, "uv")},
		{all, pylockRecipe(t, "poetry")},
		{needs, pylockRecipe(t, "pip")},
		{needs, pylockRecipe(t, "pdm")},
		{"iniconfig 2.0.0, " + needs, with(pylockRecipe(t, "pdm"), func(r *Recipe) { r.Extras = []string{"Plots"} })},
		{"markupsafe 3.0.2, pluggy 1.5.0, six 1.17.0", with(pylockRecipe(t, "pdm"), func(r *Recipe) { r.Groups = []string{"dev"} })},
		{all, with(pylockRecipe(t, "pdm"), func(r *Recipe) { r.Extras, r.Groups = []string{"plots"}, []string{"default", "dev"} })},
		{"colorama 0.4.6, " + all, pylockRecipe(t, "uv", "sys_platform == 'win32'", "sys_platform == 'linux'")},
		{needs, pylockRecipe(t, "pip", "[[packages.wheels]]\nname = \"six-1.17.0-py2.py3-none-any.whl\"", "[packages.archive]", "[packages.wheels.hashes]\nsha256 = \"4721", "[packages.archive.hashes]\nsha256 = \"4721",
			"name = \"six\"\nversion = \"1.17.0\"", "name = \"six\"")},
		{needs, pylockRecipe(t, "pip", "sha256 = \"4721", "md5 = \"0\"\nsha512 = \"4721")},
	} {
		m, err := c.r.Manifest()
		if err != nil || list(m) != c.want || m.Python != "3.11" {
			t.Errorf("%d: got %s, Python %s, %v; want %s", i, list(m), m.Python, err, c.want)
		}
	}
	// All tools lock the same files, but for pip, which has one wheel.
	key := func(r Recipe) string {
		t.Helper()
		m, err := r.Manifest()
		testkit.None(t, err)
		return fmt.Sprint(m)
	}
	was := key(pylockRecipe(t, "uv"))
	for _, r := range []Recipe{
		pylockRecipe(t, "poetry"),
		with(pylockRecipe(t, "pdm"), func(r *Recipe) { r.Extras, r.Groups = []string{"plots"}, []string{"dev"} }),
		pylockRecipe(t, "uv", "08695f5c", "00000000", "93335ca3", "00000000", "e17c96c1", "00000000"), // of other platforms and Pythons
	} {
		testkit.Is(t, key(r), was)
	}
	if is := key(pylockRecipe(t, "uv", "a123e330", "00000000")); is == was {
		t.Error("another wheel of this platform counts as the same")
	}
	if is := key(with(pylockRecipe(t, "uv"), func(r *Recipe) { r.Python = "" })); is != was {
		t.Errorf("without a choice the Python is not the oldest: %s", is)
	}
	// What is asked of an installer: its --group takes the place of the default groups.
	for want, r := range map[string]Recipe{
		"[]": pylockRecipe(t, "pdm"),
		"[--extra plots --group default --group dev]": with(pylockRecipe(t, "pdm"), func(r *Recipe) { r.Extras, r.Groups = []string{"plots"}, []string{"dev"} }),
		"[--group dev]": with(uvRecipe(), func(r *Recipe) { r.Groups = []string{"dev"} }),
	} {
		testkit.Is(t, fmt.Sprint(r.Options()), want, "options")
	}
}

func TestPylockRefused(t *testing.T) {
	six := "name = \"six\"\nversion = \"1.17.0\"\n"
	for want, r := range map[string]Recipe{
		"pylock.uv.toml has no extra \"plots\" to choose: a lock of pdm has":                 with(pylockRecipe(t, "uv"), func(r *Recipe) { r.Extras = []string{"plots"} }),
		"pylock.pdm.toml has no group \"docs\" to choose":                                    with(pylockRecipe(t, "pdm"), func(r *Recipe) { r.Groups = []string{"docs"} }),
		"pylock.pip.toml is no pylock.toml of lock-version 1.0: make one by uv export":       pylockRecipe(t, "pip", "\"1.0\"", "\"2.0\""),
		"pylock.pip.toml is no pylock.toml: toml:":                                           pylockRecipe(t, "pip", "\"1.0\"", ""),
		"give python = \"3.11\"":                                                             with(pylockRecipe(t, "pip"), func(r *Recipe) { r.Python = "" }),
		"the lock is for Python >=3.11, which leaves out 3.10":                               with(pylockRecipe(t, "uv"), func(r *Recipe) { r.Python = "3.10" }),
		"pylock.pdm.toml is for no other environment than sys_platform == \"win32\"":         pylockRecipe(t, "pdm", "\"python_version >= \\\"3.11\\\"\"", "'sys_platform == \"win32\"'"),
		"markupsafe 3.0.2 is for Python >=3.12, which leaves out 3.11":                       pylockRecipe(t, "poetry", "\">=3.9\"", "\">=3.12\""),
		"there is no variable \"sys_plattform\"":                                             pylockRecipe(t, "uv", "sys_platform", "sys_plattform"),
		"it has several packages six for this platform and Python":                           pylockRecipe(t, "uv", "name = \"pluggy\"", "name = \"Six\""),
		"markupsafe 3.0.2 has no file for this platform and Python 3.11":                     with(pylockRecipe(t, "pip"), func(r *Recipe) { r.Platform = "macos-arm64" }),
		"six 1.17.0 has no hash of six-1.17.0-py2.py3-none-any.whl":                          pylockRecipe(t, "pip", "sha256 = \"4721", "md5 = \"4721"),
		"six 1.17.0 is taken from wheels/six-1.17.0-py2.py3-none-any.whl, a file or folder":  pylockRecipe(t, "uv", "url = \"https://files.example/six-1.17.0-py2", "path = \"wheels/six-1.17.0-py2"),
		"six 1.17.0 is taken from file:///six-1.17.0-py2.py3-none-any.whl, a file or folder": pylockRecipe(t, "uv", "https://files.example/six-1.17.0-py2", "file:///six-1.17.0-py2"),
		"six 1.17.0 is taken from nowhere":                                                   pylockRecipe(t, "uv", "{ url = \"https://files.example/six-1.17.0-py2", "{ name = \"six-1.17.0-py2"),
		"six is taken from https://forge/six, of whose files the lock has no hash":           pylockRecipe(t, "uv", six, "name = \"six\"\nvcs = { type = \"git\", url = \"https://forge/six\", commit-id = \"0123\" }\n"),
		"sub is taken from ../sub, a file or folder":                                         pylockRecipe(t, "uv", six, "name = \"sub\"\ndirectory = { path = \"../sub\", editable = true }\n"),
		"study is the project itself, which is not installed":                                pylockRecipe(t, "uv", six, "name = \"study\"\ndirectory = { path = \".\", editable = true }\n"),
		"six 1.17.0 has both an archive and other files":                                     pylockRecipe(t, "uv", six, six+"archive = { url = \"https://index/six-1.17.0.tar.gz\" }\n"),
		"six has no version, and its file is none named NAME-VERSION":                        pylockRecipe(t, "uv", six, "name = \"six\"\n"),
		"installers take a lock that is named pylock.toml": with(pylockRecipe(t, "pip"), func(r *Recipe) {
			r.Files["lock.toml"] = r.Files[r.Lock]
			r.Lock = "lock.toml"
		}),
	} {
		testkit.ErrSays(t, testkit.Err(r.Manifest()), want)
	}
}

// A lock that is given as one of another kind is answered by the attribute that takes it.
func TestBeside(t *testing.T) {
	for lock, kind := range map[string]string{"pylock.toml": Pylock, "pylock.cpu.toml": Pylock, "uv.lock": UV, "conda-lock.yml": Conda, "pixi.lock": Conda, "flake.lock": Nix} {
		for _, as := range []string{UV, Pylock, Requirements, Conda, Nix} {
			_, err := Beside(as, lock)
			if as == kind {
				testkit.None(t, err)
			} else {
				testkit.ErrSays(t, err, fmt.Sprintf("%s is no lock of %s: give it by %s = %q", lock, as, kind, lock))
			}
		}
	}
	if files, err := Beside(Requirements, "requirements.txt"); err != nil || files != nil {
		t.Errorf("%v, %v", files, err)
	}
	if files, err := Beside(UV, "uv.lock"); err != nil || fmt.Sprint(files) != "[pyproject.toml]" {
		t.Errorf("%v, %v", files, err)
	}
}
