package origins

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// Folder is what a source block takes of this machine.
type Folder struct {
	Address string `json:"address"`
	Files   int    `json:"files"` // with links
	Bytes   int64  `json:"bytes"`
	Ignored int    `json:"ignored"` // files, and folders with all in them, that .gitignore files leave out
	Problem string `json:"problem,omitempty"`
}

// Look looks at what the task of a source block takes, and hashes none of it; ok is false of
// other tasks.
func Look(address string, t step.Task, pos pipeline.Pos) (f Folder, ok bool) {
	path, ignore, ok := pipeline.SourceOf(t, pos)
	if !ok {
		return f, false
	}
	l, err := listing.Of(path, ignore)
	if err != nil {
		return Folder{Address: address, Problem: err.Error()}, true
	}
	return Folder{Address: address, Files: len(l.Names()), Bytes: l.Bytes, Ignored: l.Ignored}, true
}

// OfFolders are the states of what the source blocks of a plan take. The store has it if it
// has a result of the step.
func OfFolders(ctx context.Context, reg *step.Registry, store artifacts.Store, pl *plan.Plan) (sources []Source, err error) {
	for _, s := range pl.Steps {
		f, ok := Look(s.Address, s.Task, s.Pos)
		if !ok {
			continue
		}
		var c struct{ Path, SHA256 string }
		if err := json.Unmarshal(s.Task.Config, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		x := Source{Step: s.Address, Source: c.Path, SHA256: c.SHA256, State: OK, Size: f.Bytes, Note: fmt.Sprintf("%d files", f.Files)}
		if f.Problem != "" {
			x.State, x.Note = Unreachable, f.Problem
		}
		key, _, err := reg.Key(s.Task)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		r, err := artifacts.Lookup(ctx, store, key)
		if err != nil {
			return nil, err
		}
		x.InStore = r != nil
		sources = append(sources, x)
	}
	return sources, nil
}
