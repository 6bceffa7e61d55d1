package pack

import (
	"bytes"
	"context"

	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
)

// Export writes the pipeline of a session and its results as an archive, signed with the
// user's key, if there is one.
func Export(ctx context.Context, se *session.Session, o Options) (*Exported, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var x *export
	var g *report.Gatherer
	v, err := se.Preview(ctx, func(of session.Seen) (_ plan.Keep, err error) {
		if x, err = begin(se, of, o); err != nil {
			return nil, err
		}
		book, err := se.Book(ctx, of.Store)
		g = report.Gather(of.Plan, book)
		return func(i int, it *plan.Item) bool {
			x.note(i, it)
			return g.Keep(i, it)
		}, err
	})
	if err != nil {
		return nil, err
	}
	if err := se.SayDown(v.Store, session.MayHave(v.Preview, nil)); err != nil {
		return nil, err
	}
	// Results from other stores are copied unchanged, with their signatures.
	if err := se.Bring(ctx, v.Store, v.Preview, func(int) bool { return true }); err != nil {
		return nil, err
	}
	if err := x.choose(ctx, se.ToRun(se.Targets...)); err != nil {
		return nil, err
	}
	r, err := g.Build(ctx, v.Preview, v.Store.Blobs.Open, report.Options{Store: v.Store.URL, Paper: v.Pipeline.Paper, Claims: v.Pipeline.Claims, Command: x.hint})
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		return nil, err
	}
	by, err := se.Signer()
	if err != nil {
		return nil, err
	}
	sent, over := se.Copying("written", 0)
	defer over()
	return x.finish(ctx, page.Bytes(), by, sent)
}
