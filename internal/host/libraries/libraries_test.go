package libraries

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

var installedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, path, text string) {
	t.Helper()
	testkit.Program(t, path, text)
}

func at(t *testing.T, path string, when time.Time) {
	t.Helper()
	testkit.None(t, os.Chtimes(path, when, when))
}

// base is an installation of Python; venv makes an environment of it.
func base(t *testing.T, dir string) string {
	python := filepath.Join(dir, "bin", "python3.11")
	write(t, python, "\x7fELF of Python")
	return python
}

func venv(t *testing.T, dir, python string) (site string) {
	t.Helper()
	write(t, filepath.Join(dir, "pyvenv.cfg"), "home = "+filepath.Dir(python)+"\nversion = 3.11.4\n")
	testkit.None(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o755))
	testkit.None(t, os.Symlink(python, filepath.Join(dir, "bin", "python")))
	site = filepath.Join(dir, "lib", "python3.11", "site-packages")
	install(t, site, "pip", "24.0", map[string]string{"pip/__init__.py": "pip"})
	return site
}

// install installs a distribution as pip does: its files, then their record.
func install(t *testing.T, site, name, version string, files map[string]string) {
	t.Helper()
	info := name + "-" + version + ".dist-info"
	files[info+"/METADATA"] = "Name: " + name + "\n"
	record := info + "/RECORD,,\n" + info + "/INSTALLER,sha256=x,4\n" + "../../../bin/" + name + ",sha256=" + site + ",1\n"
	for file, text := range files {
		path := filepath.Join(site, file)
		write(t, path, text)
		at(t, path, installedAt)
		sum := sha256.Sum256([]byte(text))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", file, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
	}
	write(t, filepath.Join(site, info, "INSTALLER"), "pip\n")
	write(t, filepath.Join(site, info, "RECORD"), record)
	at(t, filepath.Join(site, info, "RECORD"), installedAt.Add(time.Second))
}

func of(t *testing.T, program string) *Environment {
	t.Helper()
	e, err := new(Memory).Of(t.Context(), program, exec.LookPath)
	testkit.None(t, err)
	return e
}

// TestEnvironments: two environments of one Python with the same packages are the same
// wherever they are, and every change of what is installed makes another one, by name.
func TestEnvironments(t *testing.T) {
	dir := t.TempDir()
	python := base(t, filepath.Join(dir, "base"))
	numpy := func(site string) {
		install(t, site, "numpy", "1.26.4", map[string]string{"numpy/__init__.py": "one", "numpy/core/x.py": "x"})
	}
	numpy(venv(t, filepath.Join(dir, "first"), python))
	first := of(t, filepath.Join(dir, "first", "bin", "python"))
	if strings.Contains(string(first.Text), dir) || first.String() != "2 distributions of "+filepath.Join(dir, "first") {
		t.Errorf("%s: %s", first, first.Text)
	}
	// What changes a folder of packages: a file that is written after numpy is there, or another numpy.
	edited := func(file, text string, times ...time.Time) func(string) {
		return func(site string) {
			numpy(site)
			write(t, filepath.Join(site, file), text)
			for _, when := range times {
				at(t, filepath.Join(site, file), when)
			}
		}
	}
	other := func(version string, files map[string]string) func(string) {
		return func(site string) { install(t, site, "numpy", version, files) }
	}
	const file = "numpy/core/x.py"
	edit := []string{file + " not there -> edited after it was installed"}
	for name, x := range map[string]struct {
		change func(site string)
		want   []string
	}{
		"the same": {numpy, nil},
		"compiled and rewritten": {func(site string) {
			numpy(site)
			write(t, filepath.Join(site, "numpy", "__pycache__", "x.cpython-311.pyc"), "compiled")
			write(t, filepath.Join(site, "numpy", "core", "x.py"), "x") // other times, the same bytes
		}, nil},
		"another version": {other("2.0.1", map[string]string{"numpy/__init__.py": "two"}), []string{"numpy 1.26.4 -> 2.0.1"}},
		"none":            {func(string) {}, []string{"numpy 1.26.4 -> not there"}},
		"another build":   {other("1.26.4", map[string]string{"numpy/__init__.py": "other", file: "x"}), []string{"numpy 1.26.4 (files "}},
		"edited":          {edited(file, "y"), edit},
		"edited to another size, its time set back": {edited(file, "xx", installedAt), edit},
		"an older file of its size":                 {edited(file, "y", installedAt.AddDate(-1, 0, 0)), edit},
		"removed": {func(site string) {
			numpy(site)
			testkit.None(t, os.Remove(filepath.Join(site, file)))
		}, []string{"numpy/core/x.py not there -> removed after it was installed"}},
		"copied by hand":                           {edited("mine/a.py", "a"), []string{"mine not there -> of no distribution"}},
		"run at the start":                         {edited("hook.pth", "import sitehook\n"), []string{"hook.pth not there -> run at the start"}},
		"run at the start after a byte order mark": {edited("hook.pth", "\ufeffimport sitehook\n"), []string{"hook.pth not there -> run at the start"}},
		"what is run at the start edited": {func(site string) {
			other("1.26.4", map[string]string{"numpy/__init__.py": "one", file: "x", "hook.pth": "import hook\n"})(site)
			write(t, filepath.Join(site, "hook.pth"), "import hook, os; os.environ['SEED'] = '7'\n")
		}, []string{"hook.pth not there -> edited after it was installed", "numpy 1.26.4 (files "}},
		"weights": {func(site string) { // each line of them would be a folder of sources
			install(t, site, "numpy", "1.26.4", map[string]string{"numpy/__init__.py": "one", "numpy/core/x.py": "x", "numpy/tiny.pth": "/\n"})
			write(t, filepath.Join(site, "numpy", "tiny.pth"), strings.Repeat("/\n", maxJSON/2+1))
		}, []string{"numpy 1.26.4 (files ", "numpy/tiny.pth not there -> edited after it was installed"}},
		"weights copied by hand": {edited("mine/w.pth", "weights"), []string{"mine not there -> of no distribution"}},
		"listed without a hash": {func(site string) { // whichever of it and the record is newer
			install(t, site, "numpy", "1.26.4", map[string]string{"numpy/__init__.py": "one", "numpy/core/x.py": "x"})
			write(t, filepath.Join(site, "marker"), "")
			at(t, filepath.Join(site, "marker"), installedAt)
			record := filepath.Join(site, "numpy-1.26.4.dist-info", "RECORD")
			write(t, record, testkit.Text(t, record)+"marker,,\n")
		}, []string{"marker not there -> of no distribution", "numpy 1.26.4 (files "}},
	} {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "env")
			x.change(venv(t, at, python))
			e := of(t, filepath.Join(at, "bin", "python"))
			ds := Compare(first.Manifest, e.Manifest)
			if (len(ds) == 0) != (e.Digest == first.Digest) || len(ds) != len(x.want) {
				t.Fatalf("%v, want %q", ds, x.want)
			}
			for i, w := range x.want {
				if !strings.HasPrefix(ds[i].String(), w) {
					t.Errorf("%q, want %q", ds[i], w)
				}
			}
		})
	}
}

// TestEditable: of an editable installation its sources count, wherever they are, and no
// more of their folder than Python imports.
func TestEditable(t *testing.T) {
	dir := t.TempDir()
	python := base(t, filepath.Join(dir, "base"))
	for _, way := range []string{"path", "finder", "record alone", "develop", "link"} {
		t.Run(way, func(t *testing.T) {
			digest := func(root, code string, built ...string) *Environment {
				project := filepath.Join(root, "project")
				write(t, filepath.Join(project, "src", "mine", "a.py"), code)
				write(t, filepath.Join(project, "src", "mine", "data.csv"), root)
				write(t, filepath.Join(project, "src", ".git", "x.py"), root)
				site := venv(t, filepath.Join(root, "env"), python)
				url := map[string]string{"mine-1.0.dist-info/direct_url.json": `{"dir_info":{"editable":true},"url":"file://` + project + `"}`}
				for _, name := range built {
					url[name] = "two"
				}
				switch way {
				case "path":
					url["__editable__.mine-1.0.pth"] = filepath.Join(project, "src")
				case "finder":
					url["__editable___mine_1_0_finder.py"] = "MAPPING: dict[str, str] = {'mine': '" + filepath.Join(project, "src", "mine") + "'}\n"
					url["__editable__.mine-1.0.pth"] = "import __editable___mine_1_0_finder; __editable___mine_1_0_finder.install()"
				case "develop":
					write(t, filepath.Join(site, "easy-install.pth"), filepath.Join(project, "src")+"\n")
					write(t, filepath.Join(site, "mine.egg-link"), filepath.Join(project, "src")+"\n.")
				case "link":
					testkit.None(t, os.Symlink(filepath.Join(project, "src", "mine"), filepath.Join(site, "mine")))
				}
				if way != "develop" && way != "link" {
					install(t, site, "mine", "1.0", url)
				}
				return of(t, filepath.Join(root, "env", "bin", "python"))
			}
			one, same, other := digest(t.TempDir(), "one"), digest(t.TempDir(), "one"), digest(t.TempDir(), "two")
			testkit.Is(t, one.Digest, same.Digest, one.Text, same.Text)
			ds := Compare(one.Manifest, other.Manifest)
			testkit.That(t, len(ds) == 1 && strings.Contains(ds[0].Old, Source), "an edit of its sources", ds, one.Text)
			testkit.Says(t, one.String(), Source)
			if way != "finder" {
				return
			}
			for _, built := range []string{"mine/core.so", "mine-1.0.dist-info/entry_points.txt"} {
				if ds := Compare(one.Manifest, digest(t.TempDir(), "one", built).Manifest); len(ds) != 1 || !strings.HasPrefix(ds[0].String(), "mine 1.0 (") {
					t.Errorf("%s: %v", built, ds)
				}
			}
			again := t.TempDir()
			digest(again, "one")
			hook := filepath.Join(again, "env/lib/python3.11/site-packages/__editable__.mine-1.0.pth")
			write(t, hook, "import os; os.environ['SEED'] = '7'\n")
			if ds := Compare(one.Manifest, of(t, filepath.Join(again, "env", "bin", "python")).Manifest); len(ds) != 1 || !strings.Contains(ds[0].String(), Edited) {
				t.Errorf("its hook edited: %v", ds)
			}
		})
	}
}

// TestPlaces: an environment is found by the program as it is called.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	in := func(path string) string { return filepath.Join(dir, path) }
	link := func(to, from string) {
		t.Helper()
		testkit.None(t, os.MkdirAll(filepath.Dir(in(from)), 0o755))
		testkit.None(t, os.Symlink(in(to), in(from)))
	}
	system := base(t, in("usr"))
	link("usr/bin/python3.11", "usr/bin/python3")
	install(t, in("usr/lib/python3/dist-packages"), "system", "1", map[string]string{"system.py": "s"})
	install(t, in("usr/local/lib/python3.11/dist-packages"), "local", "2", map[string]string{"local.py": "l"})
	install(t, in("usr/lib/python3.12/site-packages"), "later", "3", map[string]string{"later.py": "l"})
	write(t, in("usr/lib/python3/dist-packages/PyYAML-6.0-py3.11.egg-info/PKG-INFO"), "")
	venv(t, in("env"), system)
	write(t, in("env/bin/kedro"), "#!"+in("env/bin/python")+"\nimport kedro\n")
	write(t, in("env/bin/long"), "#!/bin/sh\n'''exec' \""+in("env/bin/python")+"\" \"$0\" \"$@\"\n' '''\n")
	write(t, in("env/bin/uv"), "#!/bin/sh\n'''exec' '"+in("env/bin/python")+"' \"$0\" \"$@\"\n' '''\n")
	write(t, in("env/bin/relocatable"), "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python' \"$0\" \"$@\"\n' '''\n")
	venv(t, in("copies"), system)
	testkit.None(t, os.Remove(in("copies/bin/python")))
	write(t, in("copies/bin/python"), "\x7fELF of Python")
	write(t, in("copies/pyvenv.cfg"), "home = "+filepath.Dir(system)+"\ninclude-system-site-packages = true\n")
	write(t, in("mise/bin/mise"), "\x7fELF")
	link("mise/bin/mise", "mise/shims/python")
	install(t, in("mise/lib/python3.11/site-packages"), "of-mise", "1", map[string]string{})
	write(t, in("asdf/shims/python"), "#!/usr/bin/env bash\n# asdf-plugin: python 3.11.7\nexec "+in("mise/bin/mise")+" exec python \"$@\"\n")
	venv(t, in("both"), system)
	write(t, in("both/pyvenv.cfg"), "include-system-site-packages = true\n")
	write(t, in("pyenv/shims/python3"), "#!/usr/bin/env bash\nexec pyenv\n")
	write(t, in("pyenv/version"), "3.11.7\n")
	base(t, in("pyenv/versions/3.11.7"))
	link("pyenv/versions/3.11.7/bin/python3.11", "pyenv/versions/3.11.7/bin/python3")
	install(t, in("pyenv/versions/3.11.7/lib/python3.11/site-packages"), "shimmed", "1", map[string]string{})
	base(t, in("conda"))
	write(t, in("conda/bin/Rscript"), "\x7fELF")
	write(t, in("conda/bin/samtools"), "\x7fELF")
	site := in("conda/lib/python3.11/site-packages")
	install(t, site, "scipy", "1.13.0", map[string]string{"scipy/__init__.py": "s"})
	install(t, site, "extra", "0.1", map[string]string{"extra.py": "e"})
	meta := `{"name":"scipy","version":"1.13.0","build":"py311_0","sha256":"aa","link":{"source":"` + dir + `"},"paths_data":{"paths":[` +
		`{"_path":"lib/python3.11/site-packages/scipy/__init__.py","sha256":"","size_in_bytes":1},` +
		`{"_path":"lib/python3.11/site-packages/scipy-1.13.0.dist-info/METADATA"}]}}`
	write(t, in("conda/conda-meta/scipy-1.13.0.json"), meta)
	for program, want := range map[string]string{
		"env/bin/python":            "pip 24.0",
		"env/bin/kedro":             "pip 24.0",
		"env/bin/long":              "pip 24.0",
		"env/bin/uv":                "pip 24.0",
		"env/bin/relocatable":       "pip 24.0",
		"copies/bin/python":         "pip 24.0, local 2, system 1, pyyaml 6.0",
		"mise/shims/python":         "",
		"asdf/shims/python":         "",
		"usr/bin/python3":           "local 2, system 1, pyyaml 6.0",
		"both/bin/python":           "pip 24.0, local 2, system 1, pyyaml 6.0",
		"pyenv/shims/python3":       "shimmed 1",
		"conda/bin/python3.11":      "scipy 1.13.0 py311_0, extra 0.1",
		"conda/bin/Rscript":         "scipy 1.13.0 py311_0, extra 0.1",
		"conda/bin/samtools":        "",
		"pyenv/versions/3.11.7/bin": "",
	} {
		e, err := new(Memory).Of(t.Context(), in(program), exec.LookPath)
		if strings.HasSuffix(program, "/bin") {
			testkit.ErrSays(t, err, in(program))
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		var have, wanted []string
		if e != nil {
			for _, d := range e.Manifest.Distributions {
				have = append(have, d.Name+" "+d.Version)
			}
		}
		if want != "" {
			wanted = strings.Split(want, ", ")
		}
		slices.Sort(have)
		slices.Sort(wanted)
		testkit.Deep(t, have, wanted, program)
	}
	write(t, filepath.Join(site, "scipy/__init__.py"), "edited")
	if e := of(t, in("conda/bin/python3.11")); !strings.Contains(e.String(), Edited+": scipy/__init__.py") {
		t.Error(e)
	}
}

// TestUnreadable: what cannot be read is an error that names it.
func TestUnreadable(t *testing.T) {
	replaced := func(path string) string { // by a folder
		testkit.None(t, os.Remove(path))
		testkit.None(t, os.Mkdir(path, 0o755))
		return filepath.Clean(path)
	}
	for name, spoil := range map[string]func(site string) string{
		"a record that is a folder": func(site string) string {
			replaced(filepath.Join(site, "pip-24.0.dist-info", "RECORD"))
			return "" // it is not a record: its files are of no distribution
		},
		"a pointer that is too long": func(site string) string {
			testkit.Write(t, filepath.Join(site, "long.pth"), make([]byte, maxJSON+1))
			return filepath.Join(site, "long.pth")
		},
		"pyvenv.cfg is a folder": func(site string) string { return replaced(filepath.Join(site, "../../../pyvenv.cfg")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := spoil(venv(t, filepath.Join(dir, "env"), base(t, filepath.Join(dir, "base"))))
			_, err := new(Memory).Of(context.Background(), filepath.Join(dir, "env", "bin", "python"), exec.LookPath)
			if path == "" && err != nil || path != "" && (err == nil || !strings.Contains(err.Error(), path)) {
				t.Errorf("%v, want the path %q", err, path)
			}
		})
	}
	if _, err := new(Memory).Of(t.Context(), filepath.Join(t.TempDir(), "python"), exec.LookPath); !os.IsNotExist(err) && err == nil {
		t.Error(fs.ErrNotExist)
	}
}
