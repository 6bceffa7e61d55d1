package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// writeArchive writes all files below a folder of the archive's name.
func (r *release) writeArchive(w io.Writer) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		data, err := r.files[name].content()
		if err != nil {
			return err
		}
		h := &tar.Header{Name: r.archiveName() + "/" + strings.TrimPrefix(name, about), Mode: int64(r.files[name].mode), Size: int64(len(data)), ModTime: r.when, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func (r *release) archiveName() string { return "redsi-" + r.commit + "-" + r.platform }
