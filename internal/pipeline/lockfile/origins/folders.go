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

// FolderOf counts files that a source block takes.
func FolderOf(address string, files []artifacts.File, ignored int) Folder {
	f := Folder{Address: address, Ignored: ignored}
	for _, x := range files {
		if x.Mode != artifacts.Folder {
			f.Files++
		}
		if x.Mode != artifacts.Link {
			f.Bytes += x.Size
		}
	}
	return f
}

// Folders looks at what the source blocks of steps take, and hashes none of it.
func Folders(steps []pipeline.Step) (list []Folder) {
	for _, s := range steps {
		path, ignore, ok := pipeline.SourceOf(s.Task, s.Pos)
		if !ok {
			continue
		}
		l, err := listing.Of(path, ignore)
		if err != nil {
			list = append(list, Folder{Address: s.Address, Problem: err.Error()})
			continue
		}
		list = append(list, FolderOf(s.Address, l.Files, l.Ignored))
	}
	return list
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
			x.Note = fmt.Sprintf("%d files", FolderOf("", f.Tree.Files, 0).Files)
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
