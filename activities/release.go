package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Release releases the outputs of temporary steps whose readers in a run are done. Outputs stay that an open run of
// another plan keeps, or has yet to read, and those in the record of a run of another pipeline, or of a later run,
// whose plan may keep them.
func (a *Activities) Release(ctx context.Context, req workflows.ReleaseRequest) (out workflows.Released, err error) {
	keys, err := rowsOf(ctx, a, req.Keys)
	if err != nil {
		return out, err
	}
	open, err := runs.AllOpen(ctx, a.Store.Own)
	if err != nil {
		return out, err
	}
	seen := map[artifacts.Digest]bool{}
	wanted := map[artifacts.Digest]string{}
	for _, o := range open {
		if o.RunID == req.RunID || o.Plan.IsZero() || seen[o.Plan] || o.IsOf(ctx, a.Store, req.Plan) { // a transfer has no plan; a run of this plan wants the same
			continue
		}
		seen[o.Plan] = true
		if err := a.wants(ctx, o, wanted); err != nil {
			return out, fmt.Errorf("what run %s, which is in progress or was killed, reads: %w", o.RunID, err)
		}
	}
	out.Freed, err = artifacts.Release(ctx, a.Store.Own, keys, wanted, func(name string, text []byte) bool {
		var rec runs.Record
		return strings.HasPrefix(name, artifacts.RunsPrefix) && json.Unmarshal(text, &rec) == nil && rec.Of(req.Project, req.Pipeline) && (req.RunID == "" || rec.RunID <= req.RunID)
	})
	return out, err
}

// wants adds the results that an open run keeps, or has yet to read, with the reason, also for steps by which its
// plan has grown since it began. A run whose plan is gone cannot go on, and wants nothing.
func (a *Activities) wants(ctx context.Context, o runs.Open, wanted map[artifacts.Digest]string) error {
	p, err := plan.Read(ctx, a.Store, o.Plan)
	if err == nil {
		err = step.Permanent(p.CheckKinds(a.Registry))
	}
	if artifacts.IsLost(err) {
		return nil
	}
	if err == nil {
		p, _, err = a.grown(ctx, p, "", o.RunID, nil)
	}
	if err != nil {
		return err
	}
	v, err := a.follow(ctx, p, o.RunID, nil, func(int, *plan.Item) bool { return false })
	if err != nil {
		return err
	}
	why := "run " + o.RunID + ", which is in progress or was killed, wants them; if it was killed, gc --forget-run forgets it"
	for i, it := range v.Items {
		if !p.Steps[i].Temporary {
			wanted[it.Key] = why
		}
		if it.Outcome != plan.Hit {
			for _, d := range p.Steps[i].Deps {
				wanted[v.Items[d].Key] = why
			}
		}
	}
	return nil
}
