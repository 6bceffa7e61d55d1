package libraries

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

// counted is what a key has of a program's file.
func counted(t *testing.T, program string) artifacts.Digest {
	t.Helper()
	text := []byte(testkit.Text(t, program))
	d, err := Original(program, artifacts.Sum(text))
	if err == nil && d == artifacts.Sum(text) {
		d, err = Installed(program, d)
	}
	testkit.None(t, err)
	return d
}

// TestInstalledScript: a script that an installer writes is the same in all environments, whatever
// their folders and installers, as long as it starts the same.
func TestInstalledScript(t *testing.T) {
	const (
		long = "#!/bin/sh\n'''exec' '%s/python' \"$0\" \"$@\"\n' '''\n"
		pip  = "# -*- coding: utf-8 -*-\nimport re\nimport sys\nfrom kd.cli import main\nif __name__ == '__main__':\n" +
			"    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])\n    sys.exit(main())\n"
		uv = "# -*- coding: utf-8 -*-\nimport sys\nfrom kd.cli import main\nif __name__ == \"__main__\":\n    if sys.argv[0].endswith(\"-script.pyw\"):\n        sys.argv[0] = sys.argv[0][:-11]\n" +
			"    elif sys.argv[0].endswith(\".exe\"):\n        sys.argv[0] = sys.argv[0][:-4]\n    sys.exit(main())\n"
	)
	made := func(folder, text string) artifacts.Digest {
		t.Helper()
		bin := filepath.Join(t.TempDir(), folder, "bin")
		write(t, filepath.Join(bin, "python"), "\x7fELF")
		write(t, filepath.Join(bin, "kd"), strings.ReplaceAll(text, "%s", bin))
		return counted(t, filepath.Join(bin, "kd"))
	}
	entry, script := made("env", "#!%s/python\n"+pip), made("env", "#!%s/python\nimport kd\n")
	for _, text := range []string{long + pip, long + uv, strings.ReplaceAll(long, "'%s/python'", "\"%s/python\"") + pip,
		strings.ReplaceAll(long, "'%s/python'", "\"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python'") + uv} {
		testkit.Is(t, made("my env", text), entry, "another program")
	}
	testkit.Is(t, made("other", "#!%s/python\nimport kd\n"), script, "the folder counts in a script")
	seen := map[artifacts.Digest]string{entry: "entry", script: "script"}
	for _, text := range []string{long + strings.ReplaceAll(pip, "main", "other"), long + strings.Replace(pip, "kd.cli", "kd", 1), long + pip + "import os\n",
		"#!%s/python -O\n" + pip, strings.Replace(long, " \"$0\"", " -O \"$0\"", 1) + pip, long + strings.Replace(pip, "re.sub(r'", "re.sub(os.getenv('X')+r'", 1),
		long + "import sys\n", "#!/usr/bin/env python\n" + pip, "#!/bin/sh\n" + pip, "\x7fELF"} {
		d := made("env", text)
		testkit.Is(t, seen[d], "", text)
		seen[d] = text
	}
}

// TestCondaProgram: of what conda writes its folder into, the file of the package counts.
func TestCondaProgram(t *testing.T) {
	made := func(packages string) (dir string) {
		dir = t.TempDir()
		python := "\x7fELF of " + dir
		write(t, filepath.Join(dir, "bin/python3.11"), python)
		testkit.None(t, os.Symlink("python3.11", filepath.Join(dir, "bin/python")))
		write(t, filepath.Join(dir, "lib/R/bin/R"), "#!/bin/sh\nR_HOME="+dir+"\n")
		write(t, filepath.Join(dir, "bin/perl"), "\x7fELF of perl")
		write(t, filepath.Join(dir, "conda-meta/python.json"), fmt.Sprintf(`{"name":"python","version":"3.11.9","build":"0",%s"paths_data":{"paths":[
			{"_path":"bin/python3.11","sha256":"%064d","sha256_in_prefix":"%s","file_mode":"binary"},
			{"_path":"lib/R/bin/R","sha256":"%064d","sha256_in_prefix":"%s","file_mode":"text"},
			{"_path":"lib/python3.11/site-packages/gone.py","sha256":"%064d","sha256_in_prefix":"%064d"},
			{"_path":"lib/python3.11/site-packages/__pycache__/gone.cpython-311.pyc","sha256":"%064d"}]}}`,
			packages, 1, artifacts.Sum([]byte(python)).Hex(), 2, artifacts.Sum([]byte("#!/bin/sh\nR_HOME="+dir+"\n")).Hex(), 3, 3, 4))
		write(t, filepath.Join(dir, "lib/python3.11/site-packages/gone.py"), "not as it was")
		at(t, filepath.Join(dir, "conda-meta/python.json"), installedAt)
		return dir
	}
	one, two := made(`"sha256":"aa",`), made(`"sha256":"aa",`)
	for program, want := range map[string]string{"bin/python": fmt.Sprintf("%064d", 1), "lib/R/bin/R": fmt.Sprintf("%064d", 2), "bin/perl": artifacts.Sum([]byte("\x7fELF of perl")).Hex()} {
		testkit.Is(t, counted(t, filepath.Join(one, program)).Hex(), want, program)
	}
	first := of(t, filepath.Join(one, "bin/python"))
	if second := of(t, filepath.Join(two, "bin/python")); first.Digest != second.Digest || !strings.Contains(first.String(), Edited+": gone.py") {
		t.Errorf("%s\n%s", first.Text, second.Text)
	}
	link := filepath.Join(t.TempDir(), "env")
	testkit.None(t, os.Symlink(one, link))
	if e := of(t, filepath.Join(link, "bin/python")); e.Digest != first.Digest {
		t.Errorf("by a link to its folder: %s", e.Text)
	}
	testkit.None(t, os.Symlink("../lib/R/bin/R", filepath.Join(one, "bin/R")))
	before := of(t, filepath.Join(one, "bin/R"))
	write(t, filepath.Join(one, "lib/R/library/mine/DESCRIPTION"), "by install.packages")
	if e := of(t, filepath.Join(one, "bin/R")); len(before.Manifest.Files) != 1 || !strings.Contains(e.String(), Unlisted+": mine") || of(t, filepath.Join(one, "bin/python")).Digest != first.Digest {
		t.Errorf("a package that R installed itself: %s\n%s", before.Text, e.Text)
	}
	venv(t, filepath.Join(one, "v"), filepath.Join(one, "bin/python3.11"))
	venv(t, filepath.Join(two, "v"), filepath.Join(two, "bin/python3.11"))
	if a, b := of(t, filepath.Join(one, "v/bin/python")), of(t, filepath.Join(two, "v/bin/python")); a.Digest != b.Digest {
		t.Errorf("environments of conda's Python: %s\n%s", a.Text, b.Text)
	}
	testkit.None(t, os.Remove(filepath.Join(one, "lib/python3.11/site-packages/gone.py")))
	if e := of(t, filepath.Join(one, "bin/python")); len(e.Manifest.Files) != 1 || e.Manifest.Files[0] != (File{Name: "gone.py", Is: Gone}) {
		t.Errorf("a file that was removed: %s", e.Text)
	}
	write(t, filepath.Join(one, "bin/python3.11"), "\x7fELF of another")
	if got := counted(t, filepath.Join(one, "bin/python")); got != artifacts.Sum([]byte("\x7fELF of another")) {
		t.Errorf("one that was replaced counts as %s", got)
	}
	if bare := of(t, filepath.Join(made(""), "bin/python")); bare.Manifest.Distributions[0].Files == "" {
		t.Error("a package without a digest counts by its name")
	}
	write(t, filepath.Join(two, "conda-meta/python.json"), `{"damaged": "`+artifacts.Digest{}.Hex())
	testkit.ErrSays(t, testkit.Err(Original(filepath.Join(two, "bin/python"), artifacts.Digest{})), "python.json")
}

// TestCondaTimes: a package of conda is not one of pip, whatever times a copy of the environment has.
func TestCondaTimes(t *testing.T) {
	dir := t.TempDir()
	python := base(t, dir)
	site := filepath.Join(dir, "lib/python3.11/site-packages")
	install(t, site, "scipy", "1.13.0", map[string]string{"scipy/__init__.py": "s"})
	write(t, filepath.Join(dir, "conda-meta/scipy.json"), fmt.Sprintf(`{"name":"scipy","version":"1.13.0","build":"0","sha256":"aa","paths_data":{"paths":[
		{"_path":"lib/python3.11/site-packages/scipy/__init__.py","sha256":"%s"},
		{"_path":"lib/python3.11/site-packages/scipy-1.13.0.dist-info/METADATA","sha256":"%s"}]}}`, artifacts.Sum([]byte("s")).Hex(), artifacts.Sum([]byte("Name: scipy\n")).Hex()))
	one := of(t, python)
	at(t, filepath.Join(site, "scipy-1.13.0.dist-info/METADATA"), time.Now().Add(time.Hour))
	if two := of(t, python); one.Digest != two.Digest {
		t.Errorf("%s\n%s", one.Text, two.Text)
	}
}

// TestUnknown: what packages a program loads of which nothing is known is said.
func TestUnknown(t *testing.T) {
	dir := t.TempDir()
	in := func(name, text string) string {
		write(t, filepath.Join(dir, name), text)
		return filepath.Join(dir, name)
	}
	venv(t, filepath.Join(dir, "env"), base(t, filepath.Join(dir, "base")))
	mise := in("mise/bin/mise", "\x7fELF")
	testkit.None(t, os.MkdirAll(filepath.Join(dir, "mise/shims"), 0o755))
	testkit.None(t, os.Symlink(mise, filepath.Join(dir, "mise/shims/python3")))
	write(t, filepath.Join(dir, "conda/conda-meta/x.json"), "{}")
	for program, want := range map[string]string{
		filepath.Join(dir, "env/bin/python"):                              "",
		filepath.Join(dir, "mise/shims/python3"):                          "packages behind ",
		in("asdf/shims/python", "#!/bin/bash\nexec "+mise+" exec python"): "packages behind ",
		in("usr/bin/R", "#!/bin/sh\nR_HOME=/usr/lib/R\n"):                 "packages of R",
		in("usr/bin/Rscript", "\x7fELF"):                                  "packages of R",
		in("conda/bin/Rscript", "\x7fELF"):                                "",
		in("conda/bin/R", "#!/bin/sh\nR_HOME=/conda/lib/R\n"):             "",
		in("usr/bin/julia", "\x7fELF"):                                    "packages of Julia",
		in("conda/bin/julia", "\x7fELF"):                                  "packages of Julia",
		in("usr/bin/awk", "\x7fELF"):                                      "",
		in("usr/bin/plot", "#!"+filepath.Join(dir, "usr/bin/Rscript")):    "packages of R",
		in("usr/bin/kedro", "#!"+filepath.Join(dir, "gone/bin/python3")):  "packages behind ",
		in("usr/bin/odd", "#!/bin/sh\n'''exec' $PYTHON \"$0\"\n' '''\n"):  "packages behind ",
		in("usr/bin/sh.sh", "#!/bin/sh\necho\n"):                          "",
	} {
		if got := Unknown(program, exec.LookPath); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}
