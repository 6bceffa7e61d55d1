package synth

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
)

// deflateLevel is a level of klauspost's gzip, whose version in go.mod fixes the compressed bytes.
const deflateLevel = 5

// file is a gzip file while it is written.
type file struct {
	name string
	w    io.WriteCloser
	z    *gzip.Writer
	size int64 // before compression
	err  error
}

func newFile(name string, w io.WriteCloser) *file {
	z, _ := gzip.NewWriterLevel(w, deflateLevel) // it has that level
	z.ModTime = noTime
	return &file{name: name, w: w, z: z}
}

var noTime = time.Unix(0, 0) // in a header of gzip: none

func (f *file) write(b []byte) {
	if f.err == nil {
		_, f.err = f.z.Write(b)
		f.size += int64(len(b))
	}
}

// member ends the gzip member and begins another.
func (f *file) member() {
	if f.err == nil {
		f.err = f.z.Close()
		f.z.Reset(f.w)
		f.z.ModTime = noTime
	}
}

// close ends the file; the writer is closed whatever happens.
func (f *file) close() error {
	if f.err == nil {
		f.err = f.z.Close()
	}
	if err := errors.Join(f.err, f.w.Close()); err != nil {
		return fmt.Errorf("synth: write %s: %w", f.name, err)
	}
	return nil
}
