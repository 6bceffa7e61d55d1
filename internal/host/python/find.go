package python

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Read returns a source by its name, a path with slashes; ok is false if there is none.
type Read func(name string) (text string, ok bool, err error)

// Closure returns the sources of a program by name: the program itself, and what it imports from folders, in which its
// Python looks first, in their order. Modules in none of them are Python's own, or installed. Packages come with the
// __init__.py that Python runs on the way to a module; folders may be packages without one. The imports of sources in
// more are found, too, if they can be read as Python. Errors name the file.
func Closure(name, text string, more map[string]string, folders []string, read Read) (map[string]string, error) {
	f := &finder{folders, read, map[string]string{}}
	err := f.add(name, text)
	for _, other := range slices.Sorted(maps.Keys(more)) {
		if _, ok := f.found[other]; ok || path.Ext(other) != ".py" {
			continue
		}
		if _, _, wrong := Imports(more[other]); wrong != nil {
			continue
		}
		err = errors.Join(err, f.add(other, more[other]))
	}
	return f.found, err
}

type finder struct {
	folders []string
	read    Read
	found   map[string]string
}

// has adds a file if it exists, and reports whether it does.
func (f *finder) has(name string) (bool, error) {
	if _, ok := f.found[name]; ok || strings.HasPrefix(name, "../") {
		return ok, nil
	}
	text, ok, err := f.read(name)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if !ok {
		return false, nil
	}
	return true, f.add(name, text)
}

// add adds a file and what it imports.
func (f *finder) add(name, text string) error {
	f.found[name] = text
	imports := Imports
	if IsNotebook(name) {
		imports = notebookImports
	}
	list, _, err := imports(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, i := range list {
		if err := f.follow(name, i); err != nil {
			return err
		}
	}
	return nil
}

// follow adds what an import of a file leads to.
func (f *finder) follow(from string, i Import) error {
	folders := f.folders
	if i.Level > 0 {
		folders = []string{path.Join(path.Dir(from), strings.Repeat("../", i.Level-1))}
	}
	at, err := f.module(folders, i.Module)
	if err != nil {
		return err
	}
	names := i.Names
	for _, folder := range at {
		if text, ok := f.found[path.Join(folder, "__init__.py")]; i.Star && ok {
			if _, names, err = Imports(text); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		if _, err := f.module(at, name); err != nil {
			return err
		}
	}
	return nil
}

// module adds the module a.b.c and the packages on the way. It returns the folders with the modules below it.
func (f *finder) module(folders []string, dotted string) ([]string, error) {
	if dotted == "" {
		return folders, nil
	}
	for part := range strings.SplitSeq(dotted, ".") {
		var below []string
		for _, folder := range folders {
			at := path.Join(folder, part)
			ok, err := f.has(path.Join(at, "__init__.py"))
			if err != nil {
				return nil, err
			}
			if ok {
				below = []string{at}
				break
			}
			if ok, err = f.has(at + ".py"); ok || err != nil {
				return nil, err
			}
			below = append(below, at) // which, if it is a folder, is a part of a package
		}
		folders = below
	}
	return folders, nil
}
