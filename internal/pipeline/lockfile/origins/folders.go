package origins

import (
	"context"
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
	f = Folder{Address: address, Files: count(l.Files), Bytes: l.Bytes, Ignored: l.Ignored}
	return f, true
}

// count is the number of files and links.
func count(files []artifacts.File) (n int) {
	for _, f := range files {
		if f.Mode != artifacts.Folder {
			n++
		}
	}
	return n
}

// StatesOf are the states of what source blocks take: list lists it, and a result of the step
// says that the store has it.
func StatesOf(ctx context.Context, reg *step.Registry, store artifacts.Store, pl *plan.Plan, list pipeline.Lister) (sources []Source, err error) {
	for _, s := range pl.Steps {
		path, ignore, ok := pipeline.SourceOf(s.Task, s.Pos)
		if !ok {
			continue
		}
		x := Source{Step: s.Address, Source: path, State: OK}
		if f, err := list(path, ignore); err != nil {
			x.State, x.Note = Unreachable, err.Error()
		} else {
			x.SHA256, x.Size = f.Tree.Digest.Hex(), f.Tree.Size
			x.Note = fmt.Sprintf("%d files", count(f.Tree.Files))
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
