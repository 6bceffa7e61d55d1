package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/step"
)

// publish writes what publish blocks name, of steps that have results. The error is of what could
// not be written; the run has its results all the same.
func (a *app) publish(ctx context.Context, out *runSummary) (failed error) {
	if len(out.Of.Pipeline.Publish) == 0 {
		return nil
	}
	p := files.Publisher{Store: out.Of.Store, Memory: filepath.Join(a.StateDir, "published.json")}
	if err := p.Open(); err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, p.Close()) }()
	for _, pub := range out.Of.Pipeline.Publish {
		list, waits, any := a.outputsOf(out, pub)
		if len(a.Targets) > 0 && !any {
			continue
		}
		if len(waits) > 0 {
			out.Published = append(out.Published, files.Published{Name: pub.Name, To: pub.To, Waits: waits})
			continue
		}
		done, err := p.Publish(ctx, files.Publication{Name: pub.Name, From: filepath.FromSlash(pub.Pos.File), To: pub.To, Files: list})
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("publish %s: %w", pub.Name, err))
		}
		out.Published = append(out.Published, done)
	}
	return failed
}

// outputsOf are the files of a publish block, the outputs that are not there, and whether any of
// its steps is in the run.
func (a *app) outputsOf(out *runSummary, pub pipeline.Publish) (list []artifacts.File, waits []string, any bool) {
	of := out.Of
	for _, ref := range pub.Files {
		var r *artifacts.Result
		for i, s := range of.Plan.Steps {
			if s.Address == ref.Step {
				r, any = of.Items[i].Result, true
			}
		}
		found, ok := filesOfRef(r, ref)
		if !ok {
			waits = append(waits, ref.String())
		}
		list = append(list, found...)
	}
	return list, waits, any
}

func filesOfRef(r *artifacts.Result, ref step.Ref) ([]artifacts.File, bool) {
	if r == nil {
		return nil, false
	}
	art, ok := r.Outputs[ref.Output]
	if ok && art.Files == nil {
		return []artifacts.File{{Name: files.NameOf(ref.Step, ref.Output), Digest: art.Digest, Size: art.Size}}, true
	}
	return slices.Clone(art.Files), ok
}

// unseen is a step whose files nobody sees unless they are asked for: the last of a pipeline
// that neither renders nor publishes anything; "" if there is none.
func (a *app) unseen(out *runSummary) string {
	of := out.Of
	if len(of.Pipeline.Publish) > 0 || len(a.rendered(of.Plan)) > 0 || out.Hit+out.Ran == 0 {
		return ""
	}
	for i := len(of.Plan.Steps) - 1; i >= 0; i-- {
		if of.Items[i].Outcome == plan.Hit {
			return of.Plan.Steps[i].Address
		}
	}
	return ""
}
