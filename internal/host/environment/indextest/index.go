// Package indextest serves wheels that a test makes, as a package index on the loopback
// interface, and finds the uv that tests run.
package indextest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// p1980 is the first time that a zip file can have.
var p1980 = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Package is one that the index has, with a module of its name.
type Package struct {
	Name, Version string
	Needs         []string // such as "other>=1"
	Licence       string   // License-Expression
	Tag           string   // of its wheel; "": py3-none-any
	Code          string   // of the module
	Files         int      // further modules
}

// Index is a package index.
type Index struct {
	URL    string
	Asked  atomic.Int64 // for wheels
	Asking func()       // called for each wheel before it is served; nil: nothing

	hashes map[string]string // by the wheel's name
	server *httptest.Server
}

// Serve makes the wheels of packages and serves them until t ends.
func Serve(t testing.TB, packages ...Package) *Index {
	t.Helper()
	x := &Index{hashes: map[string]string{}}
	wheels := map[string][]byte{}
	of := map[string][]string{} // by package
	for _, p := range packages {
		name, b := p.wheel(t)
		wheels[name], x.hashes[name] = b, fmt.Sprintf("%x", sha256.Sum256(b))
		of[p.Name] = append(of[p.Name], name)
	}
	x.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		if b, ok := wheels[name]; ok {
			x.Asked.Add(1)
			if x.Asking != nil {
				x.Asking()
			}
			http.ServeContent(w, r, name, p1980, bytes.NewReader(b))
			return
		}
		files, ok := of[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for _, f := range files {
			fmt.Fprintf(w, "<a href=\"/files/%s#sha256=%s\">%s</a>\n", f, x.hashes[f], f)
		}
	}))
	t.Cleanup(x.server.Close)
	x.URL = x.server.URL + "/simple"
	return x
}

// Close stops the index: there is no network any more.
func (x *Index) Close() { x.server.Close() }

// Requirements is the text of a requirements file with all packages of the index, of each the
// one whose wheel is first by name.
func (x *Index) Requirements() string {
	text := "--index-url " + x.URL + "\n"
	for _, name := range slices.Sorted(maps.Keys(x.hashes)) {
		parts := strings.Split(name, "-")
		text += fmt.Sprintf("%s==%s \\\n    --hash=sha256:%s\n", parts[0], parts[1], x.hashes[name])
	}
	return text
}

// Lock writes a pyproject.toml that needs some packages and, by uv, its uv.lock.
func (x *Index) Lock(t testing.TB, dir string, needs ...string) {
	t.Helper()
	text := "[project]\nname = \"study\"\nversion = \"0.1\"\nrequires-python = \">=" + Python(t) + "\"\ndependencies = ["
	for _, n := range needs {
		text += fmt.Sprintf("%q, ", n)
	}
	if err := os.WriteFile(filepath.Join(dir, "pyproject.toml"), []byte(text+"]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("uv", "lock", "--default-index", x.URL)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("uv lock: %v\n%s", err, out)
	}
}

// Setup sets Variables.
func Setup(t testing.TB, uv bool) {
	t.Helper()
	for name, value := range Variables(t, uv) {
		t.Setenv(name, value)
	}
}

// Variables put uv first in PATH, or none with uv false, and give it, pip and redsi caches of the
// test. They find this machine's Python alone.
func Variables(t testing.TB, uv bool) map[string]string {
	t.Helper()
	python, version := interpreter(t)
	bin := t.TempDir()
	if err := os.Symlink(python, filepath.Join(bin, "python"+version)); err != nil {
		t.Fatal(err)
	}
	if uv {
		if err := os.Symlink(UV(t), filepath.Join(bin, "uv")); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{"PATH": bin + ":/usr/bin:/bin", "UV_CACHE_DIR": filepath.Join(bin, "cache"), "PIP_CACHE_DIR": filepath.Join(bin, "pip"),
		"UV_PYTHON_DOWNLOADS": "never", "UV_NO_CONFIG": "1", "UV_HTTP_RETRIES": "0", "PIP_CONFIG_FILE": os.DevNull, "PIP_RETRIES": "0",
		"REDSI_ENVIRONMENTS": filepath.Join(t.TempDir(), "environments"), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
}

// UV is the path of uv: the one that make has installed for tests, else that of PATH.
func UV(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("REDSI_UV"); p != "" {
		return p
	}
	deps := os.Getenv("REDSI_DEPS")
	if cache, err := os.UserCacheDir(); deps == "" && err == nil {
		deps = filepath.Join(cache, "redsi")
	}
	if made, _ := filepath.Glob(filepath.Join(deps, "uv", "*", "uv")); len(made) > 0 {
		return made[len(made)-1]
	}
	p, err := exec.LookPath("uv")
	if err != nil {
		t.Fatal("REDSI_UV does not name uv: run `make test`, which installs it and sets it")
	}
	return p
}

// Python is the minor version of this machine's Python, such as 3.11.
func Python(t testing.TB) string {
	_, version := interpreter(t)
	return version
}

// found is this machine's Python and its minor version.
var found = sync.OnceValue(func() []string {
	out, _ := exec.Command("python3", "-c", "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])").Output()
	return strings.Fields(string(out))
})

func interpreter(t testing.TB) (path, version string) {
	t.Helper()
	f := found()
	if len(f) != 2 {
		t.Skip("an environment of Python needs a Python: this machine has no python3")
	}
	return f[0], f[1]
}

// wheel is the file of a package.
func (p Package) wheel(t testing.TB) (name string, text []byte) {
	t.Helper()
	tag := p.Tag
	if tag == "" {
		tag = "py3-none-any"
	}
	info := p.Name + "-" + p.Version + ".dist-info/"
	meta := fmt.Sprintf("Metadata-Version: 2.4\nName: %s\nVersion: %s\n", p.Name, p.Version)
	if p.Licence != "" {
		meta += "License-Expression: " + p.Licence + "\n"
	}
	for _, n := range p.Needs {
		meta += "Requires-Dist: " + n + "\n"
	}
	type file struct{ name, text string }
	files := []file{{p.Name + "/__init__.py", fmt.Sprintf("__version__ = %q\n%s", p.Version, p.Code)}}
	for i := range p.Files {
		files = append(files, file{fmt.Sprintf("%s/m%d.py", p.Name, i), "x = 1\n"})
	}
	files = append(files, file{info + "METADATA", meta}, file{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: " + tag + "\n"})
	record := ""
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.text))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	files = append(files, file{info + "RECORD", record + info + "RECORD,,\n"})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: p1980})
		if err == nil {
			_, err = w.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s-%s-%s.whl", p.Name, p.Version, tag), b.Bytes()
}
