// Package format formats files of pipelines and tests. It must not know what they mean.
package format

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// File is a file that is not formatted.
type File struct {
	Name    string
	Was, Is []byte
}

// Unformatted finds the files at paths that formatting changes, by name; a file that is not HCL is an error.
func Unformatted(paths []string, recursive bool) ([]File, error) {
	sources := map[string][]byte{}
	for _, path := range paths {
		folders := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() && recursive {
			if folders, err = foldersWithin(path); err != nil {
				return nil, err
			}
			if len(folders) == 0 {
				return nil, fmt.Errorf("neither the folder %s nor its subfolders have an *.hcl file", path)
			}
		}
		for _, f := range folders {
			files, err := syntax.ReadAll(f)
			if err != nil {
				return nil, err
			}
			maps.Copy(sources, files)
		}
	}
	if ds := syntax.Check(sources); ds.HasErrors() {
		return nil, ds.Err()
	}
	var files []File
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if f := (File{name, sources[name], hclwrite.Format(sources[name])}); !bytes.Equal(f.Was, f.Is) {
			files = append(files, f)
		}
	}
	return files, nil
}

// foldersWithin lists a folder and the folders below it that have *.hcl files, except hidden folders.
func foldersWithin(top string) (folders []string, err error) {
	top += string(filepath.Separator) // it may be a link
	err = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := name != top && strings.HasPrefix(d.Name(), ".")
		switch {
		case d.IsDir() && hidden:
			return fs.SkipDir
		case !d.IsDir() && !hidden && strings.HasSuffix(name, ".hcl"):
			folders = append(folders, filepath.Dir(name))
		}
		return nil
	})
	return slices.Compact(slices.Sorted(slices.Values(folders))), err
}

// Replace writes the formatted file atomically, with its permissions, unless it has changed since: no edit is ever lost.
func (f File) Replace() error {
	name, err := filepath.EvalSymlinks(f.Name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	switch now, err := os.ReadFile(name); {
	case err != nil:
		return err
	case bytes.Equal(now, f.Is): // another redsi fmt was first
		return nil
	case !bytes.Equal(now, f.Was):
		return fmt.Errorf("%s changed while it was being formatted and was left alone: format it again", name)
	}
	return atomicfile.WriteFile(name, f.Is, info.Mode().Perm())
}
