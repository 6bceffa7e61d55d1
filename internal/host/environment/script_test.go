package environment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

const scriptText = `#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "pandas[excel]>=2", "colorama; sys_platform == 'win32'",
#   "cowsay @ https://index/cowsay-6.1-py3-none-any.whl",
# ]
#
# [tool.uv.sources]
# tzdata = { index = "own" }
# ///
import pandas  # and no more
`

// scriptLock is as uv lock --script writes it.
const scriptLock = `version = 1
revision = 5
requires-python = ">=3.11"

[manifest]
requirements = [
    { name = "colorama", marker = "sys_platform == 'win32'" },
    { name = "cowsay", url = "https://index/cowsay-6.1-py3-none-any.whl" },
    { name = "pandas", extras = ["excel"], specifier = ">=2" },
]

[[package]]
name = "colorama"
version = "0.4"
source = { registry = "https://index/simple" }
wheels = [{ url = "https://index/colorama-0.4-py2.py3-none-any.whl", hash = "H6" }]

[[package]]
name = "cowsay"
version = "6.1"
source = { url = "https://index/cowsay-6.1-py3-none-any.whl" }
wheels = [{ url = "https://index/cowsay-6.1-py3-none-any.whl", hash = "H1" }]

[[package]]
name = "openpyxl"
version = "3.1"
source = { registry = "https://index/simple" }
wheels = [{ url = "https://index/openpyxl-3.1-py3-none-any.whl", hash = "H2" }]

[[package]]
name = "pandas"
version = "2.2"
source = { registry = "https://index/simple" }
wheels = [{ url = "https://index/pandas-2.2-cp311-cp311-manylinux_2_17_x86_64.whl", hash = "H5" }]

[package.optional-dependencies]
excel = [{ name = "openpyxl" }]
`

func scriptRecipe(change ...string) Recipe {
	r := Recipe{Format: Format, Kind: UV, Lock: "fit.py.lock", Platform: "linux-x86_64", Files: map[string]string{}}
	replace := strings.NewReplacer(change...)
	r.Add("fit.py.lock", scriptLock)
	r.Add("fit.py", replace.Replace(scriptText))
	return r
}

// A script's lock has what its block asks for; the rest of the script is not in the recipe.
func TestScript(t *testing.T) {
	for _, r := range []Recipe{
		scriptRecipe(),
		scriptRecipe("\n", "\r\n"),
		scriptRecipe(">=2\"", ">= v2.0\""),
		scriptRecipe("# requires-python = \">=3.11\"\n", ""), // uv writes that of the Python that it had
	} {
		m, err := r.Manifest()
		if err != nil || list(m) != "cowsay 6.1, openpyxl 3.1, pandas 2.2" || m.Python != "3.11" {
			t.Errorf("%s\ngot %s, Python %s, %v", r.Files["fit.py"], list(m), m.Python, err)
		}
	}
	was, err := scriptRecipe().Text()
	testkit.None(t, err)
	if is, err := scriptRecipe("and no more", "and more").Text(); err != nil || string(is) != string(was) || strings.Contains(string(is), "import") {
		t.Errorf("the recipe has the script's code: %s, %v", is, err)
	}
	for want, r := range map[string]Recipe{
		"fit.py.lock does not match the fit.py beside it: pandas >=2 is not in fit.py; pandas >=3 is not in the lock; make it anew: uv lock --script fit.py": scriptRecipe(">=2", ">=3"),
		"requires-python is >=3.12, in the lock >=3.11": scriptRecipe(">=3.11", ">=3.12"),
		"fit.py says nowhere what it needs":             scriptRecipe("# /// script\n", ""),
		"fit.py.lock has no group \"dev\"":              with(scriptRecipe(), func(r *Recipe) { r.Groups = []string{"dev"} }),
	} {
		testkit.ErrSays(t, testkit.Err(r.Manifest()), want)
	}
	if files, err := Beside(UV, "fit.py.lock"); err != nil || fmt.Sprint(files) != "[fit.py]" {
		t.Errorf("beside it: %v, %v", files, err)
	}
	testkit.ErrSays(t, testkit.Err(Beside(Pylock, "fit.py.lock")), `give it by uv = "fit.py.lock"`)
}
