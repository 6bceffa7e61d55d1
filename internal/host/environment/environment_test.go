package environment

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/testkit"
)

func hash(s string) string { return "sha256:" + strings.Repeat(s, 64)[:64] }

// uvText is a lock of uv as uv writes it, with what differs between platforms and Pythons.
const uvText = `version = 1
revision = 3
requires-python = ">=3.9"
resolution-markers = ["python_full_version >= '3.11'", "python_full_version < '3.11'"]

[[package]]
name = "study"
version = "0.1"
source = { virtual = "." }
dependencies = [
    { name = "colorama", marker = "sys_platform == 'win32'" },
    { name = "numpy", version = "2.0", source = { registry = "https://index/simple" }, marker = "python_full_version < '3.11'" },
    { name = "numpy", version = "2.3", source = { registry = "https://index/simple" }, marker = "python_full_version >= '3.11'" },
    { name = "pandas", extra = ["excel"] },
]

[package.optional-dependencies]
plots = [{ name = "six" }]

[package.dev-dependencies]
dev = [{ name = "pytest" }]

[package.metadata]
requires-dist = [
    { name = "colorama", marker = "sys_platform == 'win32'" },
    { name = "numpy", specifier = ">=2,<3" },
    { name = "pandas", extras = ["excel"] },
    { name = "six", marker = "extra == 'plots'" },
]
provides-extras = ["plots"]

[package.metadata.requires-dev]
dev = [{ name = "pytest", specifier = ">=8" }]

[[package]]
name = "numpy"
version = "2.0"
source = { registry = "https://index/simple" }
resolution-markers = ["python_full_version < '3.11'"]
wheels = [{ url = "https://index/numpy-2.0-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", hash = "H0" }]

[[package]]
name = "numpy"
version = "2.3"
source = { registry = "https://index/simple" }
resolution-markers = ["python_full_version >= '3.11'"]
sdist = { url = "https://index/numpy-2.3.tar.gz", hash = "H9" }
wheels = [
    { url = "https://index/numpy-2.3-cp311-cp311-macosx_14_0_arm64.whl", hash = "H1" },
    { url = "https://index/numpy-2.3-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", hash = "H2" },
    { url = "https://index/numpy-2.3-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl", hash = "H3" },
    { url = "https://index/numpy-2.3-cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", hash = "H4" },
]

[[package]]
name = "pandas"
version = "2.2"
source = { registry = "https://index/simple" }
dependencies = [{ name = "numpy", version = "2.0", source = { registry = "https://index/simple" }, marker = "python_full_version < '3.11'" }, { name = "tzdata", marker = "python_version < '3.9' or (sys_platform == 'linux' and platform_machine != 'arm64')" }]
sdist = { url = "https://index/pandas-2.2.tar.gz", hash = "H5" }

[package.optional-dependencies]
excel = [{ name = "openpyxl" }]

[[package]]
name = "colorama"
version = "0.4"
source = { registry = "https://index/simple" }
wheels = [{ url = "https://index/colorama-0.4-py2.py3-none-any.whl", hash = "H6" }]

[[package]]
name = "tzdata"
version = "2025.1"
source = { registry = "https://index/simple" }
wheels = [{ url = "https://index/tzdata-2025.1-py2.py3-none-any.whl", hash = "H7" }]

[[package]]
name = "openpyxl"
version = "3.1"
source = { git = "https://forge/openpyxl?rev=3.1#0123456789" }

[[package]]
name = "six"
version = "1.17"
source = { registry = "https://index/simple" }
wheels = [{ url = "https://index/six-1.17-py2.py3-none-any.whl", hash = "H8" }]

[[package]]
name = "pytest"
version = "8.0"
source = { registry = "https://index/simple" }
wheels = [{ url = "https://index/pytest-8.0-py3-none-any.whl", hash = "Ha" }]
`

const projectText = `[project]
name = "study"
requires-python = ">=3.9"
dependencies = ["colorama; sys_platform == 'win32'", "numpy >=2, <3", "pandas[excel]"]
[project.optional-dependencies]
plots = ["six"]
[dependency-groups]
dev = ["pytest>=8"]
`

func uvRecipe(change ...string) Recipe {
	return Recipe{Format: Format, Kind: UV, Lock: "uv.lock", Platform: "linux-x86_64", Python: "3.11",
		Files: map[string]string{"uv.lock": strings.NewReplacer(change...).Replace(uvText), "pyproject.toml": strings.NewReplacer(change...).Replace(projectText)}}
}

func list(m libraries.Manifest) string {
	var names []string
	for _, d := range m.Distributions {
		names = append(names, d.Name+" "+d.Version)
	}
	return strings.Join(names, ", ")
}

func TestUV(t *testing.T) {
	for want, r := range map[string]Recipe{
		"numpy 2.3, openpyxl 3.1, pandas 2.2, tzdata 2025.1":                       uvRecipe(),
		"numpy 2.0, openpyxl 3.1, pandas 2.2, tzdata 2025.1":                       with(uvRecipe(), func(r *Recipe) { r.Python = "3.10.4" }),
		"numpy 2.3, openpyxl 3.1, pandas 2.2":                                      with(uvRecipe(), func(r *Recipe) { r.Platform = "macos-arm64" }),
		"numpy 2.3, openpyxl 3.1, pandas 2.2, pytest 8.0, six 1.17, tzdata 2025.1": with(uvRecipe(), func(r *Recipe) { r.Extras, r.Groups = []string{"plots"}, []string{"dev"} }),
		"numpy 2.3, openpyxl 3.1, pandas 2.2, six 1.17, tzdata 2025.1":             with(uvRecipe(`{ name = "six" }]`, `{ name = "six", marker = "extra == 'extra-5-study-plots' and extra != 'group-5-study-dev'" }]`), func(r *Recipe) { r.Extras = []string{"plots"} }),
		"numpy 2.3, openpyxl 3.1, pandas 2.2, pytest 8.0, tzdata 2025.1":           with(uvRecipe(`dev = [{ name = "pytest" }]`, `dev = [{ name = "pytest" }, { name = "six", marker = "extra == 'dev'" }]`), func(r *Recipe) { r.Groups = []string{"dev"} }),
		"colorama 0.4, numpy 2.3, openpyxl 3.1, pandas 2.2, tzdata 2025.1":         uvRecipe("sys_platform == 'win32'", "sys_platform == 'linux'"),
	} {
		m, err := r.Manifest()
		testkit.None(t, err)
		testkit.Is(t, list(m), want)
	}
	// What uv 0.13.9 writes of other forms, of a workspace whose member asks for more, and of groups of two kinds.
	for _, r := range []Recipe{
		ofProject(`">=3.9"`, `"~=3.9"`, ">=3.9", ">=3.9, <4"),
		ofProject(`">=3.9"`, `">=3.9,<3.12.0"`, ">=3.9", ">=3.9, <3.12"),
		ofProject(`">=3.9"`, `"~=3.11.0"`, ">=3.9", "==3.11.*"),
		ofProject(`">=3.9"`, `">=3.9"`, ">=3.9", ">=3.10"),
		ofProject(`">=3.9"`, `"===3.11.7"`, ">=3.9", "==3.11.7"),
		ofProject(`"numpy >=2, <3"`, `"numpy (>=v02, <3.0-rc1)"`, ">=2,<3", ">=2,<3.0rc1"),
		ofProject("\"pandas[excel]\"]\n[project.optional-dependencies]\nplots = [", "\"pandas[excel] @ https://x/pandas-2.2.tar.gz\"]\n[project.optional-dependencies]\nplots = [\"pandas>=1\", ", "", ""),
		ofProject(`dev = ["pytest>=8"]`, "[tool.uv]\ndev-dependencies = [\"pytest>=8.0\"]", "", ""),
		with(uvRecipe(`dev = [{ name = "pytest" }]`, `dev = [{ name = "study", extra = ["plots"] }]`), func(r *Recipe) { r.Groups = []string{"dev"} }),
		with(uvRecipe("dev =", "test-all ="), func(r *Recipe) { r.Groups = []string{"Test_All"} }),
	} {
		if m, err := r.Manifest(); err != nil || !strings.HasPrefix(list(m), "numpy 2.3, openpyxl 3.1, pandas 2.2, ") {
			t.Errorf("%s\ngot %s, %v", r.Files["pyproject.toml"], list(m), err)
		}
	}
	// A lock that leaves out the newest release of a Python is for its newest that it has.
	for _, c := range [][3]string{{"==3.12.1", "", "3.12.1"}, {">=3.12,<3.12.9", "", "3.12.8"}, {">=3.12,<3.12.9", "3.12", "3.12.8"}, {">=3.12,<3.12.9", "3.12.2", "3.12.2"}, {">=3.11.4", "", "3.11"}, {"!=3.9.*,>=3.9", "", "3.10"}} {
		if python, _, err := (Recipe{Python: c[1]}).pythonOf(c[0]); err != nil || python != c[2] {
			t.Errorf("Python %q of %s is %s, %v; want %s", c[1], c[0], python, err, c[2])
		}
	}
	if m, err := with(uvRecipe("2.0\", source", "2.0\", source", ">=3.9", ">=3.10"), func(r *Recipe) { r.Python = "" }).Manifest(); err != nil || m.Python != "3.10" {
		t.Errorf("the oldest Python is %s, %v", m.Python, err)
	}
}

// ofProject is a project with one change, and its lock with another.
func ofProject(was, is, locked, lock string) Recipe {
	r := uvRecipe()
	r.Files["pyproject.toml"] = strings.Replace(projectText, was, is, 1)
	r.Files["uv.lock"] = strings.Replace(uvText, locked, lock, 1)
	return r
}

func with(r Recipe, change func(*Recipe)) Recipe {
	change(&r)
	return r
}

// What does not change what a platform installs does not change the manifest; what does, does.
func TestUVKey(t *testing.T) {
	text := func(r Recipe) string {
		t.Helper()
		m, err := r.Manifest()
		testkit.None(t, err)
		b, err := json.Marshal(m)
		testkit.None(t, err)
		return string(b)
	}
	was := text(uvRecipe())
	for name, c := range map[string]struct {
		same   bool
		change []string
	}{
		"a comment":                  {true, []string{"version = 1\n", "# comment\nversion = 1\n"}},
		"another platform's wheel":   {true, []string{"H1", "Hx", "H3", "Hy"}},
		"another Python's wheel":     {true, []string{"H4", "Hx"}},
		"another Python's version":   {true, []string{"H0", "Hx"}},
		"a source that is not taken": {true, []string{"H9", "Hx"}},
		"another platform's package": {true, []string{`"colorama"` + "\nversion = \"0.4\"", `"colorama"` + "\nversion = \"0.5\""}},
		"a group that is not chosen": {true, []string{`"8.0"`, `"8.1"`}},
		"its own wheel":              {false, []string{"H2", "Hx"}},
		"a source that is taken":     {false, []string{"H5", "Hx"}},
		"a commit":                   {false, []string{"#0123456789", "#0123456780"}},
		"a package of a package":     {false, []string{`"2025.1"`, `"2025.2"`}},
	} {
		if same := text(uvRecipe(c.change...)) == was; same != c.same {
			t.Errorf("%s: the same is %v", name, same)
		}
	}
	if text(with(uvRecipe(), func(r *Recipe) { r.Platform = "linux-aarch64" })) == was {
		t.Error("two platforms have the same")
	}
}

func TestUVRefused(t *testing.T) {
	for want, r := range map[string]Recipe{
		"uv.lock does not match the pyproject.toml beside it: numpy >=2, <4 is not in the lock; numpy >=2,<3 is not in pyproject.toml": with(uvRecipe(), func(r *Recipe) {
			r.Files["pyproject.toml"] = strings.Replace(projectText, "<3", "<4", 1)
		}),
		"scipy is not in the lock": with(uvRecipe(), func(r *Recipe) {
			r.Files["pyproject.toml"] = strings.Replace(projectText, "\"six\"", "\"six\", \"scipy\"", 1)
		}),
		"pytest >=8 is not in pyproject.toml":                                                              with(uvRecipe(), func(r *Recipe) { r.Files["pyproject.toml"] = strings.Replace(projectText, "\"pytest>=8\"", "", 1) }),
		"uv.lock has no group \"docs\"":                                                                    with(uvRecipe(), func(r *Recipe) { r.Groups = []string{"docs"} }),
		"uv.lock has no extra \"docs\"":                                                                    with(uvRecipe(), func(r *Recipe) { r.Extras = []string{"docs"} }),
		"extras and groups are of a uv.lock or a pylock.toml; the lock of conda":                           with(uvRecipe(), func(r *Recipe) { r.Kind, r.Python, r.Extras = Conda, "", []string{"docs"} }),
		"requires-python is >=3.10, in the lock >=3.9":                                                     with(uvRecipe(), func(r *Recipe) { r.Files["pyproject.toml"] = strings.Replace(projectText, ">=3.9", ">=3.10", 1) }),
		"uv.lock is no uv.lock of version 1: lock by uv lock, or give pylock = \"pylock.toml\", which pip": uvRecipe("version = 1\n", "version = 2\n"),
		"which leaves out 3.8":                                                                             with(uvRecipe(), func(r *Recipe) { r.Python = "3.8" }),
		"\"3\" is not a version of Python":                                                                 with(uvRecipe(), func(r *Recipe) { r.Python = "3" }),
		"there is no platform \"amiga\"":                                                                   with(uvRecipe(), func(r *Recipe) { r.Platform = "amiga" }),
		"tzdata is taken from ../tz, a file or folder":                                                     uvRecipe("version = \"2025.1\"\nsource = { registry = \"https://index/simple\" }", "version = \"2025.1\"\nsource = { directory = \"../tz\" }"),
		"tzdata 2025.1 has no file for this platform":                                                      uvRecipe("tzdata-2025.1-py2.py3-none-any", "tzdata-2025.1-py2.py3-none-win_amd64"),
		"tzdata 2025.1 has no hash of tzdata-2025.1-py2.py3-none-any.whl":                                  uvRecipe(", hash = \"H7\"", ""),
		"pandas 2.2 has no hash of pandas-2.2.tar.gz":                                                      uvRecipe(", hash = \"H5\"", ""),
		"tzdata 2025.1 is taken from tz/tzdata-2025.1-py2.py3-none-any.whl, a file or folder":              uvRecipe("url = \"https://index/tzdata-", "path = \"tz/tzdata-"),
		"what uv export --package NAME --no-emit-workspace writes":                                         uvRecipe("virtual = \".\"", "virtual = \"member\""),
		"without a commit":                                      uvRecipe("#0123456789", ""),
		"uv.lock is not a lock of uv":                           uvRecipe("version = 1\n", "version = \n"),
		"there is no variable \"sys_plattform\"":                uvRecipe("sys_platform ==", "sys_plattform =="),
		"it has 0 packages tzdata for this platform and Python": uvRecipe("name = \"tzdata\"\nversion", "name = \"tz\"\nversion"),
		"pyproject.toml: it has no text":                        with(uvRecipe(), func(r *Recipe) { r.Files["pyproject.toml"] = "" }),
	} {
		testkit.ErrSays(t, testkit.Err(r.Manifest()), strings.Split(want, "; ")...)
	}
}

func TestRequirements(t *testing.T) {
	of := func(text string) Recipe {
		return Recipe{Format: Format, Kind: Requirements, Lock: "r.txt", Platform: "linux-x86_64", Python: "3.11", Files: map[string]string{"r.txt": text}}
	}
	good := "# made by a tool\n--index-url https://index/simple\nScikit_Learn==1.5 \\\n    --hash=" + hash("a") + " \\\n    --hash=" + hash("b") + "\n    # via study\n" +
		"colorama==0.4 ; sys_platform == 'win32' --hash=" + hash("c") + "\npkg[extra]===2.0 --hash=" + hash("d") + "\n" +
		"own[x] @ https://index/own-3.0.1-py3-none-any.whl#frag ; python_version > '3.8' --hash=" + hash("e") + "\nsix @ https://index/six-1.17.0.tar.gz --hash=" + hash("e") + "\nwin@https://index/win-1.tar.gz ; os_name == 'nt' --hash=" + hash("e") + "\n"
	m, err := of(good).Manifest()
	if err != nil || list(m) != "own 3.0.1, pkg 2.0, scikit-learn 1.5, six 1.17.0" {
		t.Fatalf("%s, %v", list(m), err)
	}
	again, err := of(strings.NewReplacer("# made", "# remade", hash("c"), hash("f"), hash("a"), hash("b"), hash("b"), hash("a")).Replace(good)).Manifest()
	testkit.None(t, err)
	testkit.Is(t, fmt.Sprint(again), fmt.Sprint(m), "with other comments, order and platforms")
	for text, want := range map[string]string{
		"a==1 --hash=" + hash("a") + "\n\nb>=2\n": "r.txt:3: b>=2: it is not pinned",
		"a==1.* --hash=" + hash("a"):              "it is not pinned",
		"a==1":                                    "r.txt:1: a has no --hash",
		"-r other.txt":                            "r.txt:1: -r is not for a lock",
		"-e .":                                    "-e is not for a lock: a file with all packages, versions and hashes is made by uv pip compile --generate-hashes, or uv export --no-emit-project",
		"own @ https://forge/own/archive/main.zip --hash=" + hash("e"): "own @ https://forge/own/archive/main.zip: it is not pinned, by == or by the address of a wheel",
		"own @ https://index/own-3.0-py3-none-any.whl":                 "own has no --hash",
		"own @ file:///w/own-3.0-py3-none-any.whl --hash=" + hash("e"): "own is taken from file:///w/own-3.0-py3-none-any.whl, a file or folder",
		"own @ ./own-3.0-py3-none-any.whl --hash=" + hash("e"):         "that no other machine has: build a wheel",
		"# nothing":                             "names no packages for this platform",
		"a==1 ; sys == 'x' --hash=" + hash("a"): "there is no variable \"sys\"",
	} {
		testkit.ErrSays(t, testkit.Err(of(text).Manifest()), want)
	}
	testkit.ErrSays(t, testkit.Err(with(of(good), func(r *Recipe) { r.Python = "" }).Manifest()), `give python = "3.11"`)
}

// pixi is a lock of pixi with a package for linux-64.
func pixi(version int, address string, fields ...string) string {
	return fmt.Sprintf("version: %d\nplatforms:\n- name: linux-64\nenvironments:\n  default:\n    packages:\n      linux-64:\n      - %s\npackages:\n- %s\n  %s\n", version, address, address, strings.Join(fields, "\n  "))
}

func TestConda(t *testing.T) {
	of := func(text string) Recipe {
		return Recipe{Format: Format, Kind: Conda, Lock: "lock", Platform: "linux-x86_64", Files: map[string]string{"lock": text}}
	}
	const channel = "https://channel/"
	sha, md5 := strings.Repeat("a", 64), strings.Repeat("b", 32)
	for name, text := range map[string]string{
		"conda-lock": "version: 1\npackage:\n" +
			"- {name: python, version: 3.12.1, manager: conda, platform: linux-64, url: '" + channel + "linux-64/python-3.12.1-hab00c5b_1_cpython.conda', hash: {sha256: " + sha + "}, category: main}\n" +
			"- {name: python, version: 3.12.2, manager: conda, platform: osx-64, url: '" + channel + "osx-64/python-3.12.2-x_0.conda', hash: {sha256: " + sha + "}, category: main}\n" +
			"- {name: black, version: '24', manager: conda, platform: linux-64, url: '" + channel + "noarch/black-24-x_0.conda', hash: {sha256: " + sha + "}, category: dev, optional: true}\n" +
			"- {name: six, version: 1.16.0, manager: conda, platform: linux-64, url: '" + channel + "noarch/six-1.16.0-pyh_0.tar.bz2', hash: {md5: " + md5 + "}}\n",
		"pixi": "version: 6\nenvironments:\n  default:\n    packages:\n      linux-64:\n      - conda: " + channel + "linux-64/python-3.12.1-hab00c5b_1_cpython.conda\n      - conda: " + channel + "noarch/six-1.16.0-pyh_0.tar.bz2\n      osx-64: []\n" +
			"packages:\n- conda: " + channel + "linux-64/python-3.12.1-hab00c5b_1_cpython.conda\n  sha256: " + sha + "\n- conda: " + channel + "noarch/six-1.16.0-pyh_0.tar.bz2\n  sha256: " + sha + "\n",
	} {
		m, err := of(text).Manifest()
		if err != nil || list(m) != "python 3.12.1 hab00c5b_1_cpython, six 1.16.0 pyh_0" || m.Python != "3.12.1" {
			t.Errorf("%s: %s, Python %s, %v", name, list(m), m.Python, err)
		}
	}
	// The project itself, as pixi locks it since pixi init --format pyproject, is no package of it.
	for _, text := range []string{pixi(6, "pypi: ./", "name: thesis", "version: 0.1.0", "sha256: "+sha, "editable: true"), pixi(7, "pypi: ./", "name: thesis")} {
		six := "- pypi: https://index/six-1.16.0-py2.py3-none-any.whl"
		text = strings.Replace(text, "- pypi: ./", "- pypi: ./\n      "+six, 1) + "\n" + six + "\n  name: six\n  version: 1.16.0\n  sha256: " + sha + "\n"
		if m, err := of(text).Manifest(); err != nil || list(m) != "six 1.16.0" {
			t.Errorf("%s\n%s, %v", text, list(m), err)
		}
	}
	for text, want := range map[string]string{
		"package: [{name: six, platform: linux-64, url: 'https://channel/noarch/six-1-0.conda'}]":                                "six-1-0.conda has no hash, so",
		"package: [{name: six, platform: linux-64, url: 'https://channel/noarch/six-1-0.conda', hash: {md5: null, sha256: ''}}]": "take it from a channel or an index that gives one",
		"package: [{name: own, platform: linux-64, manager: pip, url: 'file:///own.whl', hash: {sha256: aa}}]":                   "own is taken from file:///own.whl, a file or folder",
		pixi(6, "conda: https://channel/noarch/six-1-0.conda", "md5: aa"):                                                        "six-1-0.conda has no hash",
		pixi(6, "pypi: ./own", "name: own", "version: 0.1", "sha256: aa", "editable: true"):                                      "own is taken from ./own, a file or folder",
		pixi(7, "pypi: ../own", "name: own"): "that no other machine has: build a wheel",
		"environments: {default: {packages: {linux-64: [{conda: https://channel/noarch/six-1-0.conda}]}}}": "it does not say what https://channel/noarch/six-1-0.conda is; make it anew: pixi lock",
		"version: 1\n": "it has no packages for linux-64",
		"a: [":         "lock: yaml",
	} {
		testkit.ErrSays(t, testkit.Err(of(text).Manifest()), want)
	}
}

func TestImageAndNix(t *testing.T) {
	image := Recipe{Kind: Image, Lock: "docker.io/library/python@" + hash("a"), Platform: "linux-x86_64"}
	if m, err := image.Manifest(); err != nil || list(m) != "image "+image.Lock {
		t.Errorf("%v, %v", m, err)
	}
	for _, name := range []string{"python:3.11", "python@sha256:abc", "x.sif"} {
		image.Lock = name
		testkit.ErrSays(t, testkit.Err(image.Manifest()), "is neither an image by its digest")
	}
	flake := Recipe{Kind: Nix, Lock: "flake.lock", Platform: "linux-x86_64", Files: map[string]string{"flake.nix": "{}",
		"flake.lock": `{"version":7,"root":"root","nodes":{"root":{"inputs":{"nixpkgs":"nixpkgs"}},"nixpkgs":{"locked":{"type":"github","rev":"abc","narHash":"sha256-x"},"original":{"type":"github"}}}}`}}
	m, err := flake.Manifest()
	testkit.That(t, err == nil && list(m) == "nixpkgs abc" && len(m.Files) == 1, m, err)
	flake.Files["flake.lock"] = `{"root":"root","nodes":{"root":{},"nixpkgs":{}}}`
	testkit.ErrSays(t, testkit.Err(flake.Manifest()), "the input nixpkgs has no narHash")
}

// FuzzMarker: a marker never panics, and what is read holds or does not.
func FuzzMarker(f *testing.F) {
	for _, s := range []string{"", "python_version < '3.12'", "(os_name == 'posix' and extra == 'a') or 'linux' in sys_platform", "not in", "'a' not in 'b'", "((", "python_version ~= 'x'"} {
		f.Add(s)
	}
	m := platforms["linux-x86_64"].values("3.11.99")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = m.holds(text) })
}

func TestMarker(t *testing.T) {
	m := platforms["linux-x86_64"].values("3.11.7")
	m["extras"], m["dependency_groups"] = "|a-b|", "|default||dev|"
	for text, want := range map[string]bool{
		"python_version >= '3.9'": true, "'3.9' > python_version": false, "python_version < '3.9'": false, "python_full_version == '3.11.*'": true, "python_full_version ~= '3.11.2'": true,
		"sys_platform == 'linux' and platform_machine == 'aarch64' or os_name == 'posix'": true, "sys_platform == 'linux' and (platform_machine == 'aarch64' or os_name == 'nt')": false,
		"'linux' in sys_platform": true, "'x86' not in platform_machine": false, "python_version in '3.10, 3.11'": true, "python_version not in '3.10 3.1'": true,
		"extra == 'fast'": false, "'fast' in extras": false, "'A_b' in extras": true, "'a' not in extras": true, "'dev' in dependency_groups": true, "'de' in dependency_groups": false, "platform_python_implementation != \"PyPy\"": true,
	} {
		testkit.Of(t, want, text)(m.holds(text))
	}
	for _, text := range []string{"python_version", "python_version <", "sys_platform == 'a' b", "(sys_platform == 'a'", "sys_platform ~ 'a'", "python_version < 'x y'", "'a' == extras"} {
		testkit.Some(t, testkit.Err(m.holds(text)), text)
	}
}
