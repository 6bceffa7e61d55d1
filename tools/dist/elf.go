package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// relocated returns a program that looks for its libraries in runpath, in place of a folder of the machine that built it.
func relocated(path, runpath string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	paths, err := f.DynString(elf.DT_RUNPATH)
	if err != nil || len(paths) != 1 {
		return nil, fmt.Errorf("%s has %d search paths of libraries, not one: build it with make (%v)", path, len(paths), err)
	}
	texts := f.Section(".dynstr")
	if texts == nil {
		return nil, fmt.Errorf("%s has no section .dynstr", path)
	}
	old := append([]byte(paths[0]), 0)
	at := bytes.Index(b[texts.Offset:texts.Offset+texts.Size], old)
	if at < 0 || len(paths[0]) < len(runpath) {
		return nil, fmt.Errorf("%s: its search path %q cannot be made %q", path, paths[0], runpath)
	}
	place := b[int(texts.Offset)+at:][:len(old)]
	clear(place)
	copy(place, runpath)
	return b, nil
}

// fromSystem are libraries that every Linux has, with the C library.
var fromSystem = []string{"libc.so.", "libm.so.", "libdl.so.", "libpthread.so.", "librt.so.", "libutil.so.", "ld-linux"}

// needed returns the libraries that a program loads, one through another, by the names that it asks for: from dir, and
// the compiler's, which not every machine has.
func needed(program, dir string) (map[string]string, error) {
	found := map[string]string{}
	queue := []string{program}
	for len(queue) > 0 {
		f, err := elf.Open(queue[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", queue[0], err)
		}
		names, err := f.ImportedLibraries()
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", queue[0], err)
		}
		queue = queue[1:]
		for _, name := range names {
			if found[name] != "" || systemHas(name) {
				continue
			}
			path, err := findLibrary(name, dir)
			if err != nil {
				return nil, err
			}
			found[name] = path
			queue = append(queue, path)
		}
	}
	return found, nil
}

func systemHas(name string) bool {
	return slices.ContainsFunc(fromSystem, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func findLibrary(name, dir string) (string, error) {
	for _, d := range []string{dir, "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib"} {
		found, err := filepath.Glob(filepath.Join(d, name))
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return filepath.EvalSymlinks(found[0])
		}
	}
	return "", fmt.Errorf("library %s is not in %s, and not where systems have it", name, dir)
}
