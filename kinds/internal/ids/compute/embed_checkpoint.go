package compute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/step"
)

// embedPiece is how many texts' vectors a checkpoint adds, in a file of its own:
// the loss of a worker costs at most that many forward passes.
const embedPiece = 2048

// vectorPieces are the vectors of an unfinished embed step, a .npy for each piece, so
// that a checkpoint writes what is new only.
type vectorPieces struct {
	kept  step.Checkpoints
	files map[string]artifacts.File
	rows  int // in files
}

// resumeVectors reads the pieces that an earlier attempt left into m, of whose rows unit is
// the name.
func resumeVectors(ctx context.Context, x *step.IO, m *npy.Matrix, unit string) (*vectorPieces, error) {
	p := &vectorPieces{kept: x.Checkpoints(), files: map[string]artifacts.File{}}
	ok, err := p.kept.Latest(ctx, func(rows int64, files map[string]artifacts.File) error {
		whole, err := p.read(ctx, files, rows, m.Cols)
		if err != nil {
			return err
		}
		*m, p.files, p.rows = whole, files, whole.Rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	if ok {
		x.Count(unit+"_resumed", int64(p.rows))
	}
	return p, nil
}

// read joins the pieces. The error is step.Unfit where they are not the vectors of so
// many documents that this step would have made, though their bytes are whole.
func (p *vectorPieces) read(ctx context.Context, files map[string]artifacts.File, rows int64, cols int) (npy.Matrix, error) {
	m := npy.Matrix{Cols: cols}
	unfit := func(format string, args ...any) (npy.Matrix, error) {
		return npy.Matrix{}, step.Unfit(fmt.Errorf(format, args...))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if want := pieceName(m.Rows); name != want {
			return unfit("it has %s where %s would follow", name, want)
		}
		b, err := p.bytes(ctx, files[name])
		if err != nil {
			return npy.Matrix{}, err
		}
		part, err := npy.Read(bytes.NewReader(b))
		if err != nil {
			return unfit("%s: %w", name, err)
		}
		if part.Cols != cols {
			return unfit("%s has vectors of %d numbers, the model makes %d", name, part.Cols, cols)
		}
		if err := kmeans.CheckFinite(part); err != nil {
			return unfit("%s: %w", name, err)
		}
		m.Rows += part.Rows
		m.Data = append(m.Data, part.Data...)
	}
	if int64(m.Rows) != rows || m.Rows%embedChunk != 0 {
		return unfit("it has %d vectors", m.Rows)
	}
	return m, nil
}

// pieceName is that of the piece that begins with the vector of a document.
func pieceName(document int) string { return fmt.Sprintf("%09d.npy", document) }

func (p *vectorPieces) bytes(ctx context.Context, f artifacts.File) ([]byte, error) {
	r, err := p.kept.Open(ctx, f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// save files what m has beyond the newest checkpoint, once that is a piece.
func (p *vectorPieces) save(ctx context.Context, m npy.Matrix) error {
	if m.Rows-p.rows < embedPiece {
		return nil
	}
	var b bytes.Buffer
	if err := npy.Write(&b, npy.Matrix{Rows: m.Rows - p.rows, Cols: m.Cols, Data: m.Data[p.rows*m.Cols:]}); err != nil {
		return err
	}
	name := pieceName(p.rows)
	f, err := p.kept.Put(ctx, name, &b)
	if err != nil {
		return err
	}
	p.files[name] = f
	p.rows = m.Rows
	return p.kept.Save(ctx, int64(m.Rows), p.files)
}
