package session

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/workflows"
)

// Journal reads what earlier runs left about the steps of a preview that are not hits.
func (se *Session) Journal(ctx context.Context, store artifacts.Store, v *plan.Preview) (*journal.Journal, error) {
	if !v.Done() {
		defer se.Waiting("reading the records of earlier runs")()
	}
	return journal.Read(ctx, se.Registry, store, v, se.Project())
}

// FindRun reads the record of a run of this project, as journal.Find names it.
func (se *Session) FindRun(ctx context.Context, store artifacts.Store, name string) (*workflows.RunRecord, error) {
	return journal.Find(ctx, store, se.Project(), name)
}
