package tracked_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/host/tracked"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// project lays out what DVC has left, with nothing checked out.
func project(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("DVC_GLOBAL_CONFIG_DIR", dir)
	a, err := txtar.ParseFile("testdata/project.txtar")
	testkit.None(t, err)
	for _, f := range a.Files {
		text := string(f.Data)
		if strings.HasSuffix(f.Name, ".dir") {
			text = strings.TrimSuffix(text, "\n")
		}
		testkit.Write(t, filepath.Join(dir, f.Name), text)
	}
	return dir
}

// got is what a path of the project has, as NAME*:TEXT.
func got(t *testing.T, at string) (string, error) {
	d, err := tracked.Of(at)
	if err != nil || d == nil {
		return "none", err
	}
	l, err := d.List(t.Context())
	if err != nil {
		return "", err
	}
	var all []string
	for _, f := range l.Files {
		in, err := d.Open(t.Context(), l.Path(f.Name))
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil {
			return "", err
		}
		all = append(all, f.Name+map[artifacts.Mode]string{artifacts.Executable: "*"}[f.Mode]+":"+string(text))
	}
	return strings.Join(all, " "), nil
}

func TestOf(t *testing.T) {
	dir := project(t)
	for at, want := range map[string]struct{ key, has string }{
		"data/big.csv":      {"md5:dd8c6a395b5dd36c56d23275028f526c/big.csv", "big.csv:a\nb\n"},
		"data/raw":          {"md5:0bb2f958e9dfe550d9b932548aca2c73.dir", "a.csv:x\n empty: sub/b.csv:y\n"},
		"data/raw/sub":      {"md5:0bb2f958e9dfe550d9b932548aca2c73.dir/sub", "b.csv:y\n"},
		"data/raw/a.csv":    {"md5:0bb2f958e9dfe550d9b932548aca2c73.dir/a.csv", "a.csv:x\n"},
		"data/far.csv":      {"md5:0ce020a5c3c1f7524593fb5292419f93/far.csv", "far.csv:far\n"}, // in the remote alone
		"tool":              {"md5:46bbbe8aa98cc0714426e948474eaaf4/tool*", "tool*:#!/bin/sh\necho hi\n"},
		"old.csv":           {"md5-dos2unix:2094b601daac3d68f5aed51d3c20f7cd/old.csv", "old.csv:one\r\ntwo\r\n"},
		"olds":              {"md5-dos2unix:51f61db4f83d04bec466df9c48d0d190.dir", "c.csv:one\r\ntwo\r\n"},
		"pipe/made/out.csv": {"md5:b026324c6904b2a9cb4b88d6d61c81d1/out.csv", "out.csv:1\n"},
		"pipe/du":           {"md5:a97bf0fef22f4e443a6595175085102d.dir", "x:u\n"},
		"pipe/dv/x":         {"md5:d5b30df7c12591eed12449ffcf31f702.dir/x", "x:v\n"},
		"data":              {"", "none"},
		"data/ra":           {"", "none"},
		"data/big.csv/x":    {"", "none"},
		"pipe/out.csv":      {"", "none"},
	} {
		at := filepath.Join(dir, "project", at)
		d, err := tracked.Of(at)
		testkit.None(t, err)
		key := ""
		if d != nil {
			key = d.Key()
		}
		if has, err := got(t, at); has != want.has || err != nil || key != want.key {
			t.Errorf("%s: %q, %v, %s", at, has, err, key)
		}
	}
	wrong := map[string]string{
		"data/gone.csv": "data/gone.csv, of gone.csv.dvc: md5 b1304b81a2e029bff466f2c245f1dbfd is neither in DVC's cache, as " + dir +
			"/project/.dvc/cache/files/md5/b1/304b81a2e029bff466f2c245f1dbfd, nor in " + dir + "/remote: run dvc fetch ",
		"data/raw/none": "no such file is in the folder's list",
	}
	for at, want := range wrong {
		_, err := got(t, filepath.Join(dir, "project", at))
		if _, is := errors.AsType[*tracked.Error](err); !is {
			t.Errorf("%s: %T", at, err)
		}
		testkit.ErrSays(t, err, want)
	}
}

// Bytes that are not the recorded ones are found out, in the cache and in the remote, and in a list.
func TestChecked(t *testing.T) {
	for file, c := range map[string]struct{ at, text, want string }{
		"project/.dvc/cache/files/md5/dd/8c6a395b5dd36c56d23275028f526c":     {"data/big.csv", "a\nc\n", "cache/files/md5/dd/8c6a395b5dd36c56d23275028f526c has md5 2dbf68d4aba8dbe6a485293f8464be64, not dd8c6a395b5dd36c56d23275028f526c as recorded: delete that, and run dvc fetch "},
		"project/.dvc/cache/20/94b601daac3d68f5aed51d3c20f7cd":               {"olds", "one\ntwo\n\n", "olds, of olds.dvc: c.csv in it, "},
		"project/.dvc/cache/files/md5/0b/b2f958e9dfe550d9b932548aca2c73.dir": {"data/raw", "[]", "data/raw, of raw.dvc: its list, "},
		"remote/files/md5/0c/e020a5c3c1f7524593fb5292419f93":                 {"data/far.csv", "", "not 0ce020a5c3c1f7524593fb5292419f93 as recorded: run dvc push"},
		"project/data/big.csv.dvc":                                           {"data/big.csv", "outs: 1", "big.csv.dvc: yaml: "},
		"project/.dvc/config":                                                {"data/far.csv", "[core]\nremote = x\n['remote \"x\"']\nurl = gdrive://a/b", "the remote x, gdrive://a/b, cannot be read here: "},
		"project/.dvc/config.local":                                          {"data/far.csv", "[cache]\ndir = elsewhere\n[core]\nremote =", "/project/.dvc/elsewhere/files/md5/0c/e020a5c3c1f7524593fb5292419f93, nor in a remote, since none is the default"},
	} {
		dir := project(t)
		testkit.Write(t, filepath.Join(dir, file), c.text)
		_, err := got(t, filepath.Join(dir, "project", c.at))
		testkit.ErrSays(t, err, c.want, dir)
	}
}

// A record alone, as an archive has it, gives a key and no bytes.
func TestRecordAlone(t *testing.T) {
	dir := project(t)
	testkit.None(t, os.RemoveAll(filepath.Join(dir, "project", ".dvc")))
	d, err := tracked.Of(filepath.Join(dir, "project", "data", "raw"))
	if err != nil || d == nil || d.Key() != "md5:0bb2f958e9dfe550d9b932548aca2c73.dir" {
		t.Fatalf("%+v, %v", d, err)
	}
	testkit.ErrSays(t, testkit.Err(d.List(t.Context())), "data/raw, of raw.dvc: no folder around it has .dvc")
}

// Line ends of texts count as \n in what DVC before version 3 has recorded.
func TestLineEnds(t *testing.T) {
	dir := project(t)
	at := filepath.Join(dir, "project", ".dvc", "cache", "20", "94b601daac3d68f5aed51d3c20f7cd")
	for text, want := range map[string]bool{"one\r\ntwo\r\n": true, "one\ntwo\n": true, "one\r\ntwo\n": true, "one\rtwo\n": false} {
		testkit.Write(t, at, text)
		if _, err := got(t, filepath.Join(dir, "project", "old.csv")); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A remote of https is read as a folder is.
func TestWeb(t *testing.T) {
	dir := project(t)
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	remote(t, dir, s.URL+"/remote", "")
}

// remote fails a test whose project cannot be read from a remote.
func remote(t *testing.T, dir, address, options string) {
	t.Helper()
	testkit.Write(t, filepath.Join(dir, "project", ".dvc", "config.local"), "['remote \"store\"']\n    url = "+address+"\n"+options)
	testkit.Of(t, "far.csv:far\n")(got(t, filepath.Join(dir, "project", "data", "far.csv")))
	testkit.ErrSays(t, testkit.Err(got(t, filepath.Join(dir, "project", "data", "gone.csv"))), "nor in "+address+": run dvc fetch")
}

// A remote in a bucket, by DVC's options of it.
func TestBucket(t *testing.T) {
	dir, server := project(t), storetest.MinIO(t)
	for _, pair := range server.Env() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	server.PutObject(t, server.Bucket, "pre/fix/files/md5/0c/e020a5c3c1f7524593fb5292419f93", []byte("far\n"))
	remote(t, dir, "s3://"+server.Bucket+"/pre/fix", "    endpointurl = http://"+server.Endpoint+"\n")
}

// Links into DVC's cache are the files there.
func TestLinks(t *testing.T) {
	dir := project(t)
	at := filepath.Join(dir, "project", "data", "raw")
	testkit.None(t, os.Mkdir(at, 0o755))
	testkit.None(t, os.Symlink(filepath.Join(dir, "project/.dvc/cache/files/md5/40/1b30e3b8b5d629635a5c613cdb7919"), filepath.Join(at, "a.csv")))
	l, err := listing.Of(at, false)
	testkit.That(t, err == nil && len(l.Files) == 1 && l.Files[0].Mode == "" && l.Bytes == 2, l, err)
}
