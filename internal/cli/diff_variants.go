package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
)

// diffVariants shows what the change from one variant of the pipeline to another costs.
func (a *app) diffVariants(ctx context.Context, x, y variant, o diffOptions) error {
	was, noneA, notesA, err := a.planVariant(ctx, x)
	if err != nil {
		return err
	}
	var claims []pipeline.Claim
	y.claims = &claims
	is, noneB, notesB, err := a.planVariant(ctx, y)
	if err != nil {
		return err
	}
	for _, t := range noneA {
		for _, u := range noneB {
			if t == u {
				return a.TargetError(&plan.UnknownTarget{Target: t})
			}
		}
	}
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	before, err := a.PreviewOf(ctx, store, was, session.KeepNone)
	if err != nil {
		return fmt.Errorf("%s: %w", x.name, err)
	}
	after, err := a.PreviewOf(ctx, store, is, session.KeepNone)
	if err != nil {
		return fmt.Errorf("%s: %w", y.name, err)
	}
	past, err := a.Journal(ctx, store, after)
	if err != nil {
		return err
	}
	history, err := a.HistoryOf(ctx, store, after, past)
	if err != nil {
		return err
	}
	earlier, err := a.Journal(ctx, store, before)
	if err != nil {
		return err
	}
	newest := newestPreimages{a: a, store: store, preview: before, past: earlier}
	r, err := impact.Compare(ctx, impact.Sides{Registry: a.Registry, Was: before, Is: after, Estimate: estimate.Of(after, history), History: history,
		Newest: newest.of, Diff: a.Differ(ctx, store), Claims: claimsOf(claims)})
	if err != nil {
		return err
	}
	r.A, r.B = x.name, y.name
	r.Notes = append(append(r.Notes, notesA...), notesB...)
	return a.tellImpact(r, o)
}

// tellImpact writes a report in the forms that were asked for.
func (a *app) tellImpact(r *impact.Report, o diffOptions) error {
	if o.markdown != "" {
		var b bytes.Buffer
		view.ImpactMarkdown(&b, r)
		if o.markdown == "-" {
			if err := view.Copy(a.Out, &b, terminal(a.Out) > 0); err != nil {
				return err
			}
		} else if err := atomicfile.WriteFile(o.markdown, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
		if err := view.WriteJSON(a.Out, r); err != nil {
			return err
		}
	case o.markdown != "-":
		view.Impact(a.Out, r, a.style(a.Out), o.all)
		if !o.all && len(r.Each) > 0 {
			view.Printf(a.Out, "--verbose lists each step.\n")
		}
	}
	if o.exitCode && r.Runs() {
		return fault.Printed(fault.CodePending)
	}
	return nil
}

// newestPreimages reads the preimages of the newest results of steps that are not hits, many
// at a time.
type newestPreimages struct {
	a       *app
	store   artifacts.Store
	preview *plan.Preview
	past    *journal.Journal
	held    map[int][]byte
	upTo    int // how many steps were read
}

func (n *newestPreimages) of(ctx context.Context, i int) ([]byte, error) {
	if i < n.upTo {
		return n.held[i], nil
	}
	n.held = map[int][]byte{}
	at := map[int]artifacts.Digest{}
	var keys []artifacts.Digest
	for n.upTo = i; n.upTo < len(n.preview.Items) && len(keys) < journal.InspectMost; n.upTo++ {
		key, ok := n.past.Key[n.preview.Plan.Steps[n.upTo].Address]
		if it := n.preview.Items[n.upTo]; ok && it.Outcome != plan.Hit && key != it.Key {
			at[n.upTo] = key
			keys = append(keys, key)
		}
	}
	found, err := artifacts.LookupMany(ctx, n.store, keys)
	if err != nil {
		return nil, err
	}
	for step, key := range at {
		if r := found[key]; r != nil {
			n.held[step] = r.Preimage
		}
	}
	return n.held[i], nil
}

// claimsOf are the sentences of the paper that are about a table or figure, by its address.
func claimsOf(claims []pipeline.Claim) func(address string) []string {
	return func(address string) (texts []string) {
		for _, c := range expect.Touched(claims, address) {
			texts = append(texts, c.Text())
		}
		return texts
	}
}
