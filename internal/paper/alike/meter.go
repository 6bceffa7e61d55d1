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
	file  string // the compared one
	worst *Difference
	each  func(*Difference) // is called with each difference, unless nil

	// Of the current blob.
	at       place // in JSON
	notes    int
	ofTheRun bool // something that tells of the run differs
}

func (m *meter) verdict() Verdict {
	switch {
	case m.worst == nil:
		return Same
	case m.worst.of > 1:
		return Differs
	}
	return Within
}

func (m *meter) number(path, stands, rebuilt string, by, allowed float64) {
	of := by / allowed
	if math.IsNaN(of) { // both are 0, written differently
		of = 0
	}
	if math.IsInf(by, 0) || math.IsNaN(by) {
		m.unlike(path, stands, rebuilt, "")
		return
	}
	m.note(&Difference{Path: path, Stands: clip(stands), Made: clip(rebuilt), By: &by, Allowed: &allowed, of: of})
}

// unlike notes a difference that no margin allows.
func (m *meter) unlike(path, stands, rebuilt, what string) {
	m.note(&Difference{Path: path, Stands: clip(stands), Made: clip(rebuilt), What: what, of: math.Inf(1)})
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

func clip(s string) string { return words.Fit(s, 120) }

func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// blobReader tells an error of the store from an error of the format.
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

// verify reads to the end, where the bytes are verified.
func (b *blobReader) verify() error {
	if b.failed == nil && !b.ended {
		_, b.failed = io.Copy(io.Discard, b.ReadCloser)
	}
	return b.failed
}
