package alike

import (
	"context"
	"io"
	"math"
	"strconv"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/words"
)

type meter struct {
	file  string // that is compared
	worst *Difference
	each  func(*Difference) // if set, is called with each

	// Of the present blob.
	at       place // in JSON
	notes    int
	ofTheRun bool // something that tells of the run is another
}

// verdict is that of all that was found; Same if nothing was.
func (m *meter) verdict() Verdict {
	switch {
	case m.worst == nil:
		return Same
	case m.worst.of > 1:
		return Differs
	}
	return Within
}

// number notes that two numbers are not the same.
func (m *meter) number(path, stands, made string, by, allowed float64) {
	of := by / allowed
	if math.IsNaN(of) { // both are 0: written otherwise
		of = 0
	}
	if math.IsInf(by, 0) || math.IsNaN(by) {
		m.unlike(path, stands, made, "")
		return
	}
	m.note(&Difference{Path: path, Stands: clip(stands), Made: clip(made), By: &by, Allowed: &allowed, of: of})
}

// unlike notes what no margin allows.
func (m *meter) unlike(path, stands, made, what string) {
	m.note(&Difference{Path: path, Stands: clip(stands), Made: clip(made), What: what, of: math.Inf(1)})
}

func (m *meter) note(d *Difference) {
	m.notes++
	if d.at = m.at; m.each != nil {
		m.each(d)
	}
	if m.worst == nil || d.of > m.worst.of {
		d.File, d.Path = m.file, clip(d.Path)
		m.worst = d
	}
}

// clip bounds what is kept of a text.
func clip(s string) string { return words.Fit(s, 120) }

func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// blobReader tells an error of the store from one of what is read.
type blobReader struct {
	io.ReadCloser
	failed error
	ended  bool
}

func openBlob(ctx context.Context, blobs artifacts.BlobReader, d artifacts.Digest) (*blobReader, error) {
	r, err := blobs.Open(ctx, d)
	return &blobReader{ReadCloser: r}, err
}

func (b *blobReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended = true
	} else if err != nil {
		b.failed = err
	}
	return n, err
}

// verify reads to the end, where the bytes are proven.
func (b *blobReader) verify() error {
	if b.failed == nil && !b.ended {
		_, b.failed = io.Copy(io.Discard, b.ReadCloser)
	}
	return b.failed
}
