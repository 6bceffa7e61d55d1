package publish

import (
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
)

// Publish publishes the targets of a session's pipeline, signed with the user's key, if there
// is one. A folder with pages that publish did not write is refused.
func Publish(ctx context.Context, se *session.Session, o Options) (*Publication, error) {
	if strings.Contains(o.Folder, "://") {
		return nil, fault.Input(fmt.Errorf("%s is not a folder: publish into one and copy it to where it is served; `%s` copies results between stores", o.Folder, se.Hint("push", o.Folder)))
	}
	var pub *Publication
	var g *report.Gatherer
	v, err := se.Preview(ctx, func(of session.Seen) (_ plan.Keep, err error) {
		if pub, err = begin(of.Plan, o); err != nil {
			return nil, err
		}
		book, err := se.Book(ctx, of.Store)
		g = report.Gather(of.Plan, book)
		return g.Keep, err
	})
	if err != nil {
		return nil, err
	}
	if err := se.SayDown(v.Store, session.MayHave(v.Preview, nil)); err != nil {
		return nil, err
	}
	results := func(ctx context.Context, steps []int) ([]*artifacts.Result, error) {
		return session.ResultsAt(ctx, v.Store, v.Preview, steps)
	}
	if err := pub.choose(ctx, v.Store, v.Preview, results); err != nil {
		return nil, err
	}
	if err := pub.check(v.Preview, se.ToRun(o.Targets...)); err != nil {
		return nil, err
	}
	to, err := transfer.Open(ctx, o.Folder, true, o.DryRun)
	if err != nil {
		return nil, fault.Input(err)
	}
	if to.URL == v.Store.URL {
		return nil, fault.Input(fmt.Errorf("%s is the store itself: publish into another folder", o.Folder))
	}
	if o.DryRun {
		return pub, pub.send(ctx, se, v.Store, to)
	}
	if err := se.Bring(ctx, v.Store, v.Preview, pub.publishes); err != nil {
		return nil, err
	}
	if err := pub.send(ctx, se, v.Store.Own(), to); err != nil {
		return nil, err
	}
	if err := pub.writeIndex(ctx, to, v.Preview); err != nil {
		return nil, err
	}
	r, err := g.Build(ctx, v.Preview, v.Store.Blobs.Open, report.Options{Store: "this folder", Paper: v.Pipeline.Paper, Claims: v.Pipeline.Claims})
	if err != nil {
		return nil, err
	}
	return pub, pub.writePages(ctx, to, r, v.Pipeline)
}

// send copies what is published, and signs it with the user's key, if there is one.
func (pub *Publication) send(ctx context.Context, se *session.Session, from, to artifacts.Store) error {
	k, err := se.Signer()
	if err != nil {
		return err
	}
	sent, over := se.Copying("written", 0)
	err = pub.copy(ctx, from, to, sent)
	over()
	if err != nil || k == nil || pub.DryRun {
		return err
	}
	return pub.sign(ctx, to, k)
}
