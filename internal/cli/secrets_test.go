package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// nowhere is: nowhere TEXT PATH... No file there has the text, in its bytes or
// its name.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: nowhere TEXT PATH...")
	}
	found := ""
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(p string, d fs.DirEntry, err error) error {
			if err != nil && os.IsNotExist(err) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(p)
			if bytes.Contains(b, []byte(args[0])) || bytes.Contains([]byte(d.Name()), []byte(args[0])) {
				found = p
			}
			return err
		}))
	}
	if (found == "") == neg {
		ts.Fatalf("%q was found in %q", args[0], found)
	}
}

// private is: private FILE. Its owner alone may read it.
func private(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if info.Mode().Perm() != 0o600 {
		ts.Fatalf("%s has mode %v", args[0], info.Mode())
	}
}
