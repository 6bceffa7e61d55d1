package activities

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/workflows"
)

// Journal writes the record of a run, and the pins that it found into the lock
// file where this worker has the pipeline's folder.
func (a *Activities) Journal(ctx context.Context, req workflows.JournalRequest) error {
	steps, err := rowsOf(ctx, a, req.Steps)
	if err != nil {
		return err
	}
	pins, err := rowsOf(ctx, a, req.Pins)
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		req.Run.Steps = steps
	}
	if err := runs.Write(ctx, a.Store.Own, req.Run); err != nil {
		return err
	}
	if req.Lock == "" || len(pins) == 0 {
		return nil
	}
	// The path comes with the run, from the worker that loaded it.
	if err := a.Accepts(req.Lock); err != nil || filepath.Base(req.Lock) != lockfile.Name {
		a.Log.Warn("the sources of a run were not pinned: this worker does not accept pipelines from that folder", "file", req.Lock)
		return nil
	}
	if _, err := os.Stat(filepath.Dir(req.Lock)); errors.Is(err, fs.ErrNotExist) {
		a.Log.Warn("the sources of a run were not pinned: this worker does not have the pipeline's folder", "file", req.Lock)
		return nil
	}
	return lockfile.Add(req.Lock, pins)
}

// Close takes the note away that a run is in progress, of one that has no record.
func (a *Activities) Close(ctx context.Context, run string) error {
	return runs.Close(ctx, a.Store.Own, run)
}
