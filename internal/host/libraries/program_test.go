package libraries

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// counted is what a key has of a program's file.
func counted(t *testing.T, program string) artifacts.Digest {
	t.Helper()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Original(program, artifacts.Sum(text))
	if err == nil && d == artifacts.Sum(text) {
		d, err = Installed(program, d, exec.LookPath)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestInstalledScript: a script that an installer writes is the same in all environments, whatever
// their folders and installers, as long as it starts the same.
func TestInstalledScript(t *testing.T) {
	python := base(t, filepath.Join(t.TempDir(), "base"))
	const (
		pip   = "import re, sys\nfrom kd.cli import main\nsys.exit(main())\n"
		uv    = "import sys\nfrom kd.cli import main\nif __name__ == '__main__': sys.exit(main())\n"
		entry = "[other]\nkd = x:y\n[console_scripts]\nkd = kd.cli : main [fast]\n"
		long  = "#!/bin/sh\n'''exec' '%s/python' \"$0\" \"$@\"\n' '''\n"
	)
	made := func(first, body, entries string, listed bool) artifacts.Digest {
		t.Helper()
		env := filepath.Join(t.TempDir(), "env")
		site := venv(t, env, python)
		script := filepath.Join(env, "bin", "kd")
		text := strings.ReplaceAll(first, "%s", filepath.Join(env, "bin")) + body
		install(t, site, "kd", "1", map[string]string{"kd/cli.py": "", "kd-1.dist-info/entry_points.txt": entries})
		write(t, script, text)
		if listed {
			sum := sha256.Sum256([]byte(text))
			write(t, filepath.Join(site, "kd-1.dist-info/RECORD"), fmt.Sprintf("../../../bin/kd,sha256=%s,1\n", base64.RawURLEncoding.EncodeToString(sum[:])))
		}
		return counted(t, script)
	}
	same := made("#!%s/python\n", pip, entry, true)
	for what, d := range map[string]artifacts.Digest{
		"another folder":    made("#!%s/python\n", pip, entry, true),
		"another installer": made("#!%s/python\n", uv, entry, true),
		"a long path":       made(long, uv, entry, true),
	} {
		if d != same {
			t.Errorf("%s makes another program", what)
		}
	}
	script := made("#!%s/python\n", pip, entry, false)
	if script != made("#!%s/python\n", pip, "", true) || script != made(long, pip, "", false) {
		t.Error("the folder counts in a script of which only the text is known")
	}
	for what, d := range map[string]artifacts.Digest{
		"another function":       made("#!%s/python\n", pip, "[console_scripts]\nkd = kd.cli:other\n", true),
		"edited":                 made("#!%s/python\n", pip+"import os\n", entry, false),
		"an option":              made("#!%s/python -O\n", pip, entry, false),
		"a Python elsewhere":     made("#!"+python+"\n", pip, entry, true),
		"a Python of PATH":       made("#!/usr/bin/env python\n", pip, entry, true),
		"not a script of Python": made("#!/bin/sh\n", pip, entry, true),
	} {
		if d == same || d == script {
			t.Errorf("%s: the same program", what)
		}
	}
}

// TestCondaProgram: of what conda writes its folder into, the file of the package counts.
func TestCondaProgram(t *testing.T) {
	made := func(packages string) (dir string) {
		dir = t.TempDir()
		python := "\x7fELF of " + dir
		write(t, filepath.Join(dir, "bin/python3.11"), python)
		if err := os.Symlink("python3.11", filepath.Join(dir, "bin/python")); err != nil {
			t.Fatal(err)
		}
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
		if got := counted(t, filepath.Join(one, program)).Hex(); got != want {
			t.Errorf("%s counts as %s, want %s", program, got, want)
		}
	}
	first := of(t, filepath.Join(one, "bin/python"))
	if second := of(t, filepath.Join(two, "bin/python")); first.Digest != second.Digest || !strings.Contains(first.String(), Edited+": gone.py") {
		t.Errorf("%s\n%s", first.Text, second.Text)
	}
	venv(t, filepath.Join(one, "v"), filepath.Join(one, "bin/python3.11"))
	venv(t, filepath.Join(two, "v"), filepath.Join(two, "bin/python3.11"))
	if a, b := of(t, filepath.Join(one, "v/bin/python")), of(t, filepath.Join(two, "v/bin/python")); a.Digest != b.Digest {
		t.Errorf("environments of conda's Python: %s\n%s", a.Text, b.Text)
	}
	if err := os.Remove(filepath.Join(one, "lib/python3.11/site-packages/gone.py")); err != nil {
		t.Fatal(err)
	}
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
	write(t, filepath.Join(two, "conda-meta/python.json"), `{"damaged": "bin/python3.11"`)
	if _, err := Original(filepath.Join(two, "bin/python"), artifacts.Digest{}); err == nil || !strings.Contains(err.Error(), "python.json") {
		t.Errorf("a damaged record: %v", err)
	}
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
	if err := os.MkdirAll(filepath.Join(dir, "mise/shims"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mise, filepath.Join(dir, "mise/shims/python3")); err != nil {
		t.Fatal(err)
	}
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
