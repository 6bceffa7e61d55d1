//go:build !notorch

package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/docid/kmeans"
	"github.com/redsi/redsi/internal/step"
)

// embedPiece is how many documents' vectors a checkpoint adds, in a file of its own:
// the loss of a worker costs at most so many forward passes.
const embedPiece = 2048

// vectorPieces are the vectors of an unfinished embed step, a .npy for each piece, so
// that a checkpoint writes what is new only.
type vectorPieces struct {
	kept  step.Checkpoints
	files map[string]artifacts.File
	rows  int // in files
}

// resumeVectors reads the pieces that an earlier attempt left into m.
func resumeVectors(ctx context.Context, x *step.IO, m *kmeans.Matrix) (*vectorPieces, error) {
	p := &vectorPieces{kept: x.Checkpoints(), files: map[string]artifacts.File{}}
	rows, files, ok, err := p.kept.Latest(ctx)
	if err != nil || !ok {
		return p, err
	}
	whole, unfit, err := p.read(ctx, files, rows, m.Cols)
	if err != nil {
		return nil, err
	}
	if unfit != nil {
		x.Log.Warn("a checkpoint does not fit; embedding begins anew", "documents", rows, "err", unfit)
		x.Count(passedOver, 1)
		return p, nil
	}
	*m = whole
	p.files, p.rows = files, m.Rows
	x.Count("documents_resumed", rows)
	return p, nil
}

// read joins the pieces. Its first error says that they are not the vectors of so
// many documents, though their bytes are whole; its second, that the store failed.
func (p *vectorPieces) read(ctx context.Context, files map[string]artifacts.File, rows int64, cols int) (m kmeans.Matrix, unfit, err error) {
	m.Cols = cols
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b, err := p.bytes(ctx, files[name])
		if err != nil {
			return kmeans.Matrix{}, nil, err
		}
		part, err := docid.ReadVectors(bytes.NewReader(b))
		if err != nil {
			return kmeans.Matrix{}, fmt.Errorf("%s: %w", name, err), nil
		}
		if part.Cols != cols {
			return kmeans.Matrix{}, fmt.Errorf("%s has vectors of %d numbers, the model makes %d", name, part.Cols, cols), nil
		}
		m.Rows += part.Rows
		m.Data = append(m.Data, part.Data...)
	}
	if int64(m.Rows) != rows {
		return kmeans.Matrix{}, fmt.Errorf("it has %d vectors", m.Rows), nil
	}
	return m, nil, nil
}

func (p *vectorPieces) bytes(ctx context.Context, f artifacts.File) ([]byte, error) {
	r, err := p.kept.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// save files what m has beyond the newest checkpoint, once that is a piece.
func (p *vectorPieces) save(ctx context.Context, m kmeans.Matrix) error {
	if m.Rows-p.rows < embedPiece {
		return nil
	}
	var b bytes.Buffer
	if err := docid.WriteVectors(&b, kmeans.Matrix{Rows: m.Rows - p.rows, Cols: m.Cols, Data: m.Data[p.rows*m.Cols:]}); err != nil {
		return err
	}
	name := fmt.Sprintf("%09d.npy", p.rows)
	f, err := p.kept.Put(ctx, name, &b)
	if err != nil {
		return err
	}
	p.files[name] = f
	p.rows = m.Rows
	return p.kept.Save(ctx, int64(m.Rows), p.files)
}
