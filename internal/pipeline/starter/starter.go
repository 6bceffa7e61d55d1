// Package starter owns the studies that people start from: a small one, the first steps of the
// ReDSI paper, and a retrieval study on a corpus of their own, whose files it reads first. It
// must not know what a study means once it is written, or how what was found is shown.
package starter

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/fault"
)

// The studies that need no corpus.
const (
	Small = "study" // a program that is run with several seeds
	Paper = "nq"    // the first steps of the ReDSI paper, on a generated corpus
)

// starters has a folder of files for each study.
//
//go:embed study nq corpus
var starters embed.FS

// ignored is what belongs to one machine or can be made again.
const ignored = ".redsi/\n.redsi.lock.lock\nresults/\n" + syntax.LocalFile + "\n"

// Files are the files of Small or Paper by name.
func Files(name string) (map[string][]byte, error) {
	sub, err := fs.Sub(starters, name)
	if err != nil {
		return nil, err
	}
	return From(sub)
}

// From are all files of a tree by their paths.
func From(tree fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[p], err = fs.ReadFile(tree, p)
		}
		return err
	})
	return files, err
}

// Write writes files into a folder, all or none, and returns their names. Only what git ignores may exist already.
func Write(files map[string][]byte, dir string) ([]string, error) {
	names := slices.Sorted(maps.Keys(files))
	for _, n := range names {
		if exists(filepath.Join(dir, n)) {
			return nil, fault.Input(fmt.Errorf("%s already exists; init does not overwrite files", filepath.Join(dir, n)))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.Input(err)
	}
	if ignore := filepath.Join(dir, ".gitignore"); !exists(ignore) {
		names = append(names, ".gitignore")
		files[".gitignore"] = []byte(ignored)
	}
	var wrote []string
	for _, n := range names {
		file := filepath.Join(dir, n)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = writeNew(file, files[n])
		}
		if errors.Is(err, fs.ErrExist) {
			return nil, fault.Input(fmt.Errorf("%s already exists; init does not overwrite files", file))
		}
		if err != nil {
			return nil, err
		}
		wrote = append(wrote, file)
	}
	return wrote, nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// writeNew writes a file that must not exist.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
