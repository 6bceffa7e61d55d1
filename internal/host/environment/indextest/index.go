// Package indextest serves wheels that a test makes, as a package index on loopback, and finds the uv that tests run.
package indextest

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// p1980 is the first time that a zip file can have.
var p1980 = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Package is a package of the index, with a module of its name.
type Package struct {
	Name, Version string
	Needs         []string // such as "other>=1"
	Licence       string   // License-Expression
	Code          string   // of the module
}

// Index is a package index.
type Index struct {
	URL    string
	Hashes map[string]string // by the wheel's name
	Asking func()            // called for each wheel before it is served; nil: nothing
	Server *httptest.Server
}

// Serve makes the wheels of packages and serves them until t ends.
func Serve(t testing.TB, packages ...Package) *Index {
	t.Helper()
	x := &Index{Hashes: map[string]string{}}
	wheels := map[string][]byte{}
	of := map[string]string{} // by package
	for _, p := range packages {
		name := p.Name + "-" + p.Version + "-py3-none-any.whl"
		wheels[name] = p.wheel(t)
		x.Hashes[name] = fmt.Sprintf("%x", sha256.Sum256(wheels[name]))
		of[p.Name] += fmt.Sprintf("<a href=\"/files/%s#sha256=%s\">%s</a>\n", name, x.Hashes[name], name)
	}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		if b, ok := wheels[name]; ok {
			if x.Asking != nil {
				x.Asking()
			}
			http.ServeContent(w, r, name, p1980, bytes.NewReader(b))
			return
		}
		if of[name] == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, of[name])
	}))
	t.Cleanup(x.Server.Close)
	x.URL = x.Server.URL + "/simple"
	return x
}

// Variables put uv first in PATH, or none with uv false, and give it, pip and redsi caches of the
// test. They find only this machine's Python.
func Variables(t testing.TB, uv bool) map[string]string {
	t.Helper()
	python, version := interpreter(t)
	bin := t.TempDir()
	links := map[string]string{"python" + version: python}
	if uv {
		links["uv"] = program(t)
	}
	for name, to := range links {
		testkit.None(t, os.Symlink(to, filepath.Join(bin, name)))
	}
	return map[string]string{"PATH": bin + ":/usr/bin:/bin", "UV_CACHE_DIR": filepath.Join(bin, "cache"), "PIP_CACHE_DIR": filepath.Join(bin, "pip"),
		"UV_PYTHON_DOWNLOADS": "never", "UV_NO_CONFIG": "1", "UV_HTTP_RETRIES": "0", "PIP_CONFIG_FILE": os.DevNull, "PIP_RETRIES": "0",
		"REDSI_ENVIRONMENTS": filepath.Join(t.TempDir(), "environments"), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
}

// program is the path of uv: what make has installed for tests, else what PATH has.
func program(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("REDSI_UV"); p != "" {
		return p
	}
	cache, _ := os.UserCacheDir() // none: nothing is found there
	installed, _ := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("REDSI_DEPS"), filepath.Join(cache, "redsi")), "uv", "*", "uv"))
	if len(installed) > 0 {
		return installed[len(installed)-1]
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

func (p Package) wheel(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	record := ""
	add := func(name, text string) {
		sum := sha256.Sum256([]byte(text))
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: p1980})
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	meta := fmt.Sprintf("Metadata-Version: 2.4\nName: %s\nVersion: %s\n", p.Name, p.Version)
	if p.Licence != "" {
		meta += "License-Expression: " + p.Licence + "\n"
	}
	for _, n := range p.Needs {
		meta += "Requires-Dist: " + n + "\n"
	}
	info := p.Name + "-" + p.Version + ".dist-info/"
	add(p.Name+"/__init__.py", fmt.Sprintf("__version__ = %q\n%s", p.Version, p.Code))
	add(info+"METADATA", meta)
	add(info+"WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	add(info+"RECORD", record+info+"RECORD,,\n")
	testkit.None(t, z.Close())
	return b.Bytes()
}
