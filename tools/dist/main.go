package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	var d dist
	out := flag.String("out", "", "archive to write, .tar.gz; its files are in a folder of that name")
	flag.StringVar(&d.root, "root", ".", "the tree")
	flag.StringVar(&d.redsi, "redsi", "bin/redsi", "the program")
	flag.StringVar(&d.models, "models", "bin/redsi-models", "the program that computes models")
	flag.StringVar(&d.server, "server", "", "the embedded Temporal server")
	flag.StringVar(&d.libtorch, "libtorch", "", "folder of libtorch, with lib and licenses")
	flag.StringVar(&d.graphs, "graphs", "", "folder of the library that records what a card is asked for, with licenses")
	flag.StringVar(&d.version, "version", "", "of redsi")
	flag.StringVar(&d.libtorchVersion, "libtorch-version", "", "of libtorch")
	when := flag.Int64("time", 0, "of all files, seconds since 1970: the commit's, so that one tree makes one archive")
	flag.Parse()
	if err := run(&d, *out, time.Unix(*when, 0)); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(d *dist, out string, when time.Time) error {
	if runtime.GOOS != "linux" {
		return errors.New("archives are made on Linux: the search path of libraries is set in ELF files only")
	}
	if err := d.collect(); err != nil {
		return err
	}
	tmp := out + ".new"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := errors.Join(d.write(f, strings.TrimSuffix(filepath.Base(out), ".tar.gz"), when), f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, out)
}

// dist is a release: what it is made of, and its files by their names in the archive.
type dist struct {
	root, redsi, models, server, libtorch, graphs, version, libtorchVersion string

	files map[string]file
}

// file is a file of the archive: bytes, or those of a path.
type file struct {
	path string
	data []byte
	mode int64
}

func (d *dist) add(name, path string, mode int64) { d.files[name] = file{path: path, mode: mode} }

// addTree adds the files below a folder of the tree.
func (d *dist) addTree(folder string) error {
	return filepath.WalkDir(filepath.Join(d.root, folder), func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(d.root, p)
		if err == nil {
			d.add(filepath.ToSlash(name), p, 0o644)
		}
		return err
	})
}

func (d *dist) collect() error {
	d.files = map[string]file{}
	models, err := relocated(d.models)
	if err != nil {
		return err
	}
	d.add("bin/redsi", d.redsi, 0o755)
	d.add("bin/redsi-temporal-server", d.server, 0o755)
	d.files["lib/redsi-models"] = file{data: models, mode: 0o755} // redsi starts it there
	libraries, err := needed(d.models, filepath.Join(d.libtorch, "lib"))
	if err != nil {
		return err
	}
	for name, path := range libraries {
		d.add("lib/"+name, path, 0o755)
	}
	d.add("lib/libredsi_graphs.so", filepath.Join(d.graphs, "libredsi_graphs.so"), 0o755) // redsi-models looks for it beside libtorch
	pipeline, err := filepath.Glob(filepath.Join(d.root, "[a-z]*.hcl"))
	if err != nil {
		return err
	}
	for _, name := range append(pipeline, "README.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "LICENSE") {
		if name = filepath.Base(name); name != "redsi.local.hcl" {
			d.add(name, filepath.Join(d.root, name), 0o644)
		}
	}
	for _, folder := range []string{"assets", "docs", "examples", "pipelines"} {
		if err := d.addTree(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return d.addMaterials()
}

// write writes all files below a folder, by name.
func (d *dist) write(w io.Writer, folder string, when time.Time) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if err := d.files[name].write(t, path.Join(folder, name), when); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func (f file) write(t *tar.Writer, name string, when time.Time) error {
	data := f.data
	if f.path != "" {
		var err error
		if data, err = os.ReadFile(f.path); err != nil {
			return err
		}
	}
	h := &tar.Header{Name: name, Mode: f.mode, Size: int64(len(data)), ModTime: when, Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}
