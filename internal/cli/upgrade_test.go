package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// madeIn is where tools/golden/upgrade.sh makes a folder: saved plans have it.
const madeIn = "/tmp/redsi-upgrade"

// upgradeCommand is: upgrade NAME. It unpacks what a release left, as a user's
// folder redsi-upgrade.
func upgradeCommand(t *testing.T) func(*testscript.TestScript, bool, []string) {
	folder, err := filepath.Abs(filepath.Join("testdata", "upgrade"))
	if err != nil {
		t.Fatal(err)
	}
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) != 1 {
			ts.Fatalf("usage: upgrade NAME")
		}
		ts.Check(unpack(filepath.Join(folder, args[0]+".tar.gz"), ts.MkAbs("."), ts.MkAbs(filepath.Base(madeIn))))
	}
}

// unpack writes an archive's files below a folder; plans are told that their own
// folder is now another.
func unpack(archive, dir, now string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			continue
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".plan" {
			b = bytes.ReplaceAll(b, []byte(madeIn), []byte(now))
		}
		if err := os.WriteFile(path, b, h.FileInfo().Mode()); err != nil {
			return err
		}
	}
}
