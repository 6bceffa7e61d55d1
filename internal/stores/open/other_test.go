package open_test

import (
	"errors"
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
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestOther: the same files are read as a folder and from a host, under the name that an
// address has for people.
func TestOther(t *testing.T) {
	t.Chdir(t.TempDir())
	s, err := open.Store(t.Context(), "theirs")
	errtest.None(t, err)
	wd, err := os.Getwd()
	errtest.None(t, err)
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
		errtest.None(t, err)
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
	if _, err := open.Other("nowhere"); err != nil {
		t.Errorf("a folder that is not there is one that does not answer: %v", err)
	}
	if _, err := os.Stat("nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it was made")
	}
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
	errtest.Says(t, errtest.Of(open.Store(t.Context(), "https://a.example/paper")), "--from")
}
