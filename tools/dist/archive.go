package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"slices"
)

// writeArchive writes all files below a folder of the archive's name, by name.
func (r *release) writeArchive(w io.Writer) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[name]
		h := &tar.Header{Name: r.archiveName() + "/" + name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: r.when, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func (r *release) archiveName() string { return "redsi-" + r.revision + "-" + r.platform }
