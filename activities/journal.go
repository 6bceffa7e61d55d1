package activities

import (
	"context"
	"encoding/json"

	"github.com/redsi/redsi/internal/lockfile"
	"github.com/redsi/redsi/workflows"
)

// RunFormat names the form of run records.
const RunFormat = "redsi-run/1"

// Journal writes the record of a run, and the pins that it found into the lock
// file where this worker has the pipeline's folder.
func (a *Activities) Journal(ctx context.Context, req workflows.JournalRequest) error {
	_, err := attempt(ctx, a, func(ctx context.Context, _ *pulse) (struct{}, error) { return struct{}{}, a.journal(ctx, req) })
	return err
}

func (a *Activities) journal(ctx context.Context, req workflows.JournalRequest) error {
	req.Run.Format = RunFormat
	b, err := json.Marshal(req.Run)
	if err != nil {
		return err
	}
	if err := a.Store.Records.Put(ctx, "runs/"+req.Run.RunID, b); err != nil {
		return err
	}
	a.mu.Lock()
	lock := a.locks[req.Run.Plan]
	a.mu.Unlock()
	if req.Lock && lock != "" && len(req.Pins) > 0 {
		return lockfile.Add(lock, req.Pins)
	}
	return nil
}
