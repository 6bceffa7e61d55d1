package open_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestSamePlace checks that each address leads back to what was stored there.
func TestSamePlace(t *testing.T) {
	server := storetest.MinIO(t)
	for _, pair := range server.Env() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	testkit.None(t, err)
	for _, c := range []struct{ first, second, url string }{
		{"sub/store", filepath.Join(wd, "sub", "store"), "file://" + wd + "/sub/store"},
		{"file://" + wd + "/a%20b", "a b", "file://" + wd + "/a%20b"},
		{server.URL("x"), server.URL("x/"), server.URL("x")},
	} {
		one, err := open.Store(t.Context(), c.first)
		testkit.None(t, err)
		d := storetest.Put(t, one, []byte(c.first))
		for _, url := range []string{c.second, one.URL} {
			two, err := open.Store(t.Context(), url)
			testkit.None(t, err)
			testkit.Is(t, two.URL, c.url, url)
			if got, err := artifacts.ReadBlob(t.Context(), two.Blobs, d, 1000); err != nil || string(got) != c.first {
				t.Errorf("%s, then %s: %q, %v", c.first, url, got, err)
			}
		}
	}
	m, err := open.Store(t.Context(), "mem:")
	testkit.None(t, err)
	testkit.Is(t, m.URL, "mem:")
}

// TestPlace: a store is at one place, however it is reached.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	testkit.None(t, os.Mkdir("a", 0o755))
	testkit.None(t, os.Symlink("a", "b"))
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "a"))
	testkit.None(t, err)
	const bucket = "s3://results/p?endpoint=minio%3A9000"
	for address, want := range map[string]string{
		"b": real, "file://" + dir + "/a": real, filepath.Join(dir, "c", "..", "a"): real, "/none/such": "/none/such",
		bucket: bucket, bucket + "&region=eu&insecure=true&writers=one": bucket,
	} {
		testkit.Is(t, open.Place(address), want, address)
	}
	for _, other := range []string{"s3://results/q?endpoint=minio%3A9000", "s3://results/p", "s3://other/p?endpoint=minio%3A9000"} {
		if open.Place(other) == bucket {
			t.Errorf("%s is at %s", other, bucket)
		}
	}
}

// TestBeside: a relative folder starts from another folder, and no other address does.
func TestBeside(t *testing.T) {
	for address, want := range map[string]string{
		"":                  "",
		"store":             "/at/store",
		"a:b":               "/at/a:b",
		"/abs":              "/abs",
		"file:/abs":         "file:/abs",
		"file:///abs":       "file:///abs",
		"s3://bucket/x":     "s3://bucket/x",
		"https://host/x":    "https://host/x",
		"mem:":              "mem:",
		"gs://nobody/reads": "gs://nobody/reads",
	} {
		testkit.Is(t, open.Beside("/at", address), want, address)
	}
}

func TestRejects(t *testing.T) {
	for url, want := range map[string]string{
		"":                         "empty",
		"gs://bucket/x":            `scheme "gs"`,
		"https://host/x":           "static host",
		"file://host/x":            "file:///",
		"file:x":                   "file:///",
		"s3://user:hunter2@b/x":    "credentials",
		"s3:bucket":                "ucket name",
		"s3://bucket?endpnt=local": "no option",
	} {
		s, err := open.Store(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, %v; want %q", url, s.URL, err, want)
		}
	}
}

// TestOther: the same files are read as a folder and from a host, under the name that an
// address has for people.
func TestOther(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := open.Store(t.Context(), "theirs")
	testkit.None(t, err)
	wd, err := os.Getwd()
	testkit.None(t, err)
	r := storetest.NewResult(t, s, "k", map[string]string{"out": "one"})
	storetest.Publish(t, s, r)
	server := httptest.NewServer(http.FileServer(http.Dir(".")))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for address, name := range map[string]string{"theirs": "theirs", "file://" + wd + "/theirs": filepath.Join(wd, "theirs"), server.URL + "/theirs/": host + "/theirs"} {
		other, err := open.Other(address)
		if err != nil || other.Name != name {
			t.Errorf("%s: %q, %v; want %q", address, other.Name, err, name)
			continue
		}
		own, err := open.Store(t.Context(), filepath.Join(t.TempDir(), "own"))
		testkit.None(t, err)
		with := artifacts.With(own, []artifacts.Other{other}, artifacts.Policy{Foreign: artifacts.UseUntrusted, Elsewhere: open.Elsewhere})
		hit, err := artifacts.Lookup(t.Context(), with, r.Key)
		if err != nil || hit == nil || hit.From != name {
			t.Errorf("%s: %v, %v", address, hit, err)
			continue
		}
		cache := t.TempDir()
		if path, err := local.Fetch(t.Context(), with, r.Outputs["out"].Digest, cache); err != nil || !strings.Contains(path, "own") {
			t.Errorf("%s: fetched to %s, %v", address, path, err)
		}
		if copies, err := os.ReadDir(filepath.Join(cache, "blobs")); err != nil || len(copies) != 0 {
			t.Errorf("%s: the cache has %v, %v", address, copies, err)
		}
	}
	if other, err := open.Other("s3://bucket/main?anonymous=true&endpoint=localhost:1&insecure=true&region=r"); err != nil || other.Name != "s3://bucket/main" {
		t.Errorf("a bucket: %q, %v", other.Name, err)
	}
	testkit.None(t, testkit.Err(open.Other("nowhere")), "a folder that is not there is one that does not answer")
	testkit.ErrIs(t, testkit.Err(os.Stat("nowhere")), fs.ErrNotExist, "it was made")
}

func TestOtherErrors(t *testing.T) {
	for address, want := range map[string]string{
		"":                           "is empty",
		"ftp://a.example/x":          `the scheme "ftp"`,
		"http://a.example/x":         "anybody on the network",
		"https://u:geheim@a.example": "password",
		"s3://u:geheim@bucket":       "credentials",
		"s3://bucket?anonymous=x":    "not true or false",
		"file://host/x":              "want file:///",
		"mem:x://":                   "no store has the scheme",
	} {
		if _, err := open.Other(address); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
	testkit.ErrSays(t, testkit.Err(open.Store(t.Context(), "https://a.example/paper")), "--from")
}

func TestShown(t *testing.T) {
	for raw, want := range map[string]string{
		"some/folder":                              "some/folder",
		"s3://bucket/p?endpoint=h:9000":            "s3://bucket/p?endpoint=h:9000",
		"s3://user:hunter2@bucket/p":               "s3://bucket/p",
		"s3://bucket?endpoint=user:hunter2@h:9000": "s3://bucket?…",
		"s3://bucket?endpoint=user%3Ahunter2%40h":  "s3://bucket?…",
		"s3://bucket/%zz:hunter2@":                 "s3://…",
	} {
		testkit.Is(t, open.Shown(raw), want, raw)
	}
}
