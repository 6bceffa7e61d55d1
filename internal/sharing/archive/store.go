package archive

import (
	"context"
	"io"
	"iter"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
)

// Reader returns the archive as a read-only store.
func (a *Reader) Reader() artifacts.Reader { return artifacts.ReadOn(driver{a}, a.where) }

// driver reads the files of an archive's store.
type driver struct{ a *Reader }

func (d driver) Where(string) string { return d.a.where }

func (d driver) Open(_ context.Context, path string) (io.ReadCloser, error) {
	f := d.a.entries[storeDir+path]
	if f == nil {
		return nil, artifacts.ErrNotExist
	}
	return open(f)
}

func (d driver) Has(_ context.Context, paths []string) ([]bool, error) {
	return lists.Map(paths, func(p string) bool { return d.a.entries[storeDir+p] != nil }), nil
}

func (d driver) List(_ context.Context, prefix string) iter.Seq2[artifacts.FileInfo, error] {
	return func(yield func(artifacts.FileInfo, error) bool) {
		for name, f := range d.a.entries {
			path, ok := strings.CutPrefix(name, storeDir)
			if ok && strings.HasPrefix(path, prefix) && !yield(artifacts.FileInfo{Path: path, Size: int64(f.UncompressedSize64)}, nil) {
				return
			}
		}
	}
}
