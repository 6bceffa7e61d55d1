package python

import (
	"fmt"
	"path"
	"strings"
)

// Read returns a source by its name, a path with slashes; false if there is none.
type Read func(name string) (text string, ok bool, err error)

// FileError is what is wrong with a file.
type FileError struct {
	Name string
	Err  error
}

func (e *FileError) Error() string {
	if wrong, ok := e.Err.(*SyntaxError); ok {
		return fmt.Sprintf("%s:%d: %s", e.Name, wrong.Line, wrong.Detail)
	}
	return e.Name + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// Closure are the sources that a program is made of, by name: itself, and what is imported
// from the folders that its Python looks through first, in their order. What is in none of
// them is Python's own, or installed. Packages come with the __init__.py that Python runs on
// the way to a module; folders may be packages without one. Errors are *FileError.
func Closure(name string, folders []string, read Read) (map[string]string, error) {
	f := &finder{folders: folders, read: read, found: map[string]string{}, looked: map[string]bool{}}
	text, ok, err := read(name)
	if err == nil && !ok {
		err = fmt.Errorf("there is no such file")
	}
	if err != nil {
		return nil, &FileError{name, err}
	}
	return f.found, f.add(name, text)
}

// finder looks for what is imported.
type finder struct {
	folders []string
	read    Read
	found   map[string]string
	looked  map[string]bool // names that are no files
}

// has adds a file if there is one.
func (f *finder) has(name string) (bool, error) {
	if _, ok := f.found[name]; ok || f.looked[name] || name == ".." || strings.HasPrefix(name, "../") {
		return ok, nil
	}
	text, ok, err := f.read(name)
	if err != nil {
		return false, &FileError{name, err}
	}
	if f.looked[name] = !ok; !ok {
		return false, nil
	}
	return true, f.add(name, text)
}

// add adds a file and what it imports.
func (f *finder) add(name, text string) error {
	f.found[name] = text
	list, _, err := importsOf(name, text)
	if err != nil {
		return &FileError{name, err}
	}
	for _, i := range list {
		if err := f.follow(name, i); err != nil {
			return err
		}
	}
	return nil
}

// importsOf is Imports of a source or of a notebook.
func importsOf(name, text string) ([]Import, []string, error) {
	if !IsNotebook(name) {
		return Imports(text)
	}
	n, err := ParseNotebook(text)
	if err != nil {
		return nil, nil, err
	}
	return n.imports(), nil, nil
}

// follow adds what an import of a file leads to.
func (f *finder) follow(from string, i Import) error {
	folders := f.folders
	if i.Level > 0 {
		folder := path.Dir(from)
		for range i.Level - 1 {
			folder = path.Join(folder, "..")
		}
		folders = []string{folder}
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

// module adds the module a.b.c and the packages on the way. It returns the folders in which
// modules below it are.
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
			below = append(below, at) // if it is a folder, it is a part of a package
		}
		folders = below
	}
	return folders, nil
}
