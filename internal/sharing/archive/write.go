package archive

import (
	"archive/zip"
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/values"
)

// Writer writes an archive sequentially. Equal calls give equal bytes with the same version of Go's compressor.
type Writer struct {
	zip    *zip.Writer
	names  map[string]bool
	files  []artifacts.File
	others []artifacts.File
}

// NewWriter returns a Writer that writes to w without seeking.
func NewWriter(w io.Writer) *Writer {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) })
	return &Writer{zip: z, names: map[string]bool{}}
}

// fixed is the time of every entry: the earliest that a ZIP can have.
var fixed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *Writer) create(name string, deflate bool) (io.Writer, error) {
	if w.names[name] {
		return nil, fmt.Errorf("%s is in the archive twice", name)
	}
	w.names[name] = true
	h := &zip.FileHeader{Name: name, Modified: fixed, Method: zip.Store}
	if deflate {
		h.Method = zip.Deflate
	}
	h.SetMode(0o644)
	return w.zip.CreateHeader(h)
}

// Stream adds a file of any length for people and other programs, listed in the manifest.
func (w *Writer) Stream(name string, write func(io.Writer) error) error {
	out, err := w.create(name, true)
	if err != nil {
		return err
	}
	sum := NewSummed(out, nil)
	if err := write(sum); err != nil {
		return err
	}
	w.others = append(w.others, artifacts.File{Name: name, Digest: sum.Digest(), Size: sum.Size})
	return nil
}

// Copy is Stream of a blob, whose bytes are verified.
func (w *Writer) Copy(ctx context.Context, name string, from artifacts.BlobReader, d artifacts.Digest) error {
	r, err := from.Open(ctx, d)
	if err != nil {
		return err
	}
	err = w.Stream(name, func(out io.Writer) error {
		_, err := io.Copy(out, readers.WithContext(ctx, r))
		return err
	})
	return errors.Join(err, r.Close())
}

// Bytes is Stream of a short file.
func (w *Writer) Bytes(name string, b []byte) error {
	return w.Stream(name, func(out io.Writer) error {
		_, err := out.Write(b)
		return err
	})
}

// plain adds a short file that the manifest does not list as others.
func (w *Writer) plain(name string, b []byte) error {
	out, err := w.create(name, true)
	if err == nil {
		_, err = out.Write(b)
	}
	return err
}

// Project adds a file of the pipeline.
func (w *Writer) Project(name string, b []byte) error {
	if err := CheckProjectFile(name); err != nil {
		return err
	}
	if err := w.plain(ProjectDir+name, b); err != nil {
		return err
	}
	w.files = append(w.files, artifacts.File{Name: name, Digest: artifacts.Sum(b), Size: int64(len(b))})
	return nil
}

const sample = 64 << 10 // how much of a blob is compressed to see whether compression is worth the time

// Blob adds a blob, whose bytes are verified.
func (w *Writer) Blob(ctx context.Context, from artifacts.BlobReader, d artifacts.Digest) (err error) {
	r, err := from.Open(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	head := make([]byte, sample)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head = head[:n]
	out, err := w.create(BlobsDir+artifacts.BlobPath(d), shrinks(head))
	if err != nil {
		return err
	}
	if _, err := out.Write(head); err != nil {
		return err
	}
	_, err = io.Copy(out, readers.WithContext(ctx, r)) // also at its end: the verdict on its bytes
	return err
}

// shrinks reports whether compression makes a blob's beginning a third shorter: less is not worth the time for weights.
func shrinks(head []byte) bool {
	if len(head) < 256 {
		return false
	}
	sum := NewSummed(io.Discard, nil)
	f, err := flate.NewWriter(sum, flate.BestSpeed)
	if err != nil {
		return false
	}
	f.Write(head)
	f.Close()
	return int(sum.Size) < len(head)*2/3
}

// Records collects what a manifest says about an archive's records, which are added in the order of their names.
type Records struct {
	w    *Writer
	last string
	n    int
	sum  hash.Hash
}

// Records begins the archive's records.
func (w *Writer) Records() *Records { return &Records{w: w, sum: sha256.New()} }

// Add adds the next record.
func (r *Records) Add(name string, b []byte) error {
	switch {
	case !artifacts.Archived(name):
		return fmt.Errorf("an archive must not have a record %s", name)
	case name <= r.last:
		return fmt.Errorf("record %s comes after %s", name, r.last)
	}
	r.last = name
	r.n++
	fmt.Fprintf(r.sum, "%s %s\n", name, artifacts.Sum(b))
	return r.w.plain(RecordsDir+artifacts.RecordPath(name), b)
}

// Digest returns the digest of the added records.
func (r *Records) Digest() RecordsDigest {
	return RecordsDigest{Count: r.n, Digest: artifacts.Digest(r.sum.Sum(nil))}
}

// Close adds the manifest, signed by a key unless that is nil, and ends the archive.
func (w *Writer) Close(m Manifest, by *signature.Private) error {
	m.Format = Format
	m.Files, m.Others = byName(w.files), byName(w.others)
	b, err := values.JSON(m, "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if by != nil {
		if b, err = by.Sign(b); err != nil {
			return err
		}
		b = append(b, '\n')
	}
	if err := w.plain(ManifestName, b); err != nil {
		return err
	}
	return w.zip.Close()
}

// byName returns files in the order of their names, never nil.
func byName(files []artifacts.File) []artifacts.File {
	return append([]artifacts.File{}, slices.SortedFunc(slices.Values(files), func(a, b artifacts.File) int { return strings.Compare(a.Name, b.Name) })...)
}

// Summed passes bytes on to a writer, counts them and hashes them.
type Summed struct {
	Size int64

	out  io.Writer
	sum  hash.Hash
	each func(n int64)
}

// NewSummed returns a writer to out that calls each, unless it is nil, for each write.
func NewSummed(out io.Writer, each func(n int64)) *Summed {
	return &Summed{out: out, sum: sha256.New(), each: each}
}

// Digest returns the digest of the bytes written so far.
func (s *Summed) Digest() artifacts.Digest { return artifacts.Digest(s.sum.Sum(nil)) }

func (s *Summed) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	s.sum.Write(p[:n])
	s.Size += int64(n)
	if s.each != nil {
		s.each(int64(n))
	}
	return n, err
}
