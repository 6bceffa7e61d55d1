package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/step"
)

// publish writes what publish blocks name, of steps that have results. The error is of what could
// not be written; the run has its results all the same.
func (a *app) publish(ctx context.Context, out *runSummary) (failed error) {
	results := map[string]*artifacts.Result{} // of the run's steps; nil if it has not been read
	for i, s := range out.Of.Plan.Steps {
		results[s.Address] = out.Of.Items[i].Result
	}
	for _, block := range out.Of.Pipeline.Publish {
		pipeline := filepath.FromSlash(block.Pos.File)
		file, err := filepath.Abs(pipeline)
		if err != nil {
			return err
		}
		done := files.Published{Name: block.Name, To: path.Join(path.Dir(block.Pos.File), block.To)}
		var list []artifacts.File
		asked := len(a.Targets) == 0
		for _, ref := range block.Files {
			r, in := results[ref.Step]
			asked = asked || in
			found, err := outputFiles(r, ref)
			if err != nil {
				return fmt.Errorf("publish %s: %w", block.Name, err)
			}
			if list = append(list, found...); found == nil {
				done.Waits = append(done.Waits, ref.String())
			}
		}
		if !asked {
			continue
		}
		if len(done.Waits) == 0 {
			memory := filepath.Join(a.StateDir, "published", block.Name+"-"+artifacts.Sum([]byte(file)).Hex()[:16]+".json")
			if err = done.Publish(ctx, out.Of.Store, memory, filepath.Dir(pipeline), block.To, list); err != nil {
				failed = errors.Join(failed, fmt.Errorf("publish %s: %w", block.Name, err))
			}
		}
		out.Published = append(out.Published, done)
	}
	return failed
}

// outputFiles are the files of an output; nil if there is none.
func outputFiles(r *artifacts.Result, ref step.Ref) ([]artifacts.File, error) {
	if r == nil || r.Outputs[ref.Output].Type == "" {
		return nil, nil
	}
	art, err := ref.In(r.Outputs[ref.Output])
	if err != nil || art.Files != nil {
		return art.Readable(), err
	}
	name := files.NameOf(ref.Step, ref.Output)
	if ref.Path != "" {
		name = path.Base(ref.Path)
	}
	return []artifacts.File{{Name: name, Digest: art.Digest, Size: art.Size}}, nil
}
