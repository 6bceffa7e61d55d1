package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

// Options say what is copied between the store of a session and another one.
type Options struct {
	Other string // the other store
	Push  bool   // into the other one
	Only  bool   // targets without what they need
	Run   string // the results and the record of this run
	Dry   bool
}

// Between copies what a session's targets or the options select, else everything. The transfer
// says from where, to where, and what was copied.
func Between(ctx context.Context, se *session.Session, o Options) (*artifacts.Transfer, error) {
	if o.Run != "" && len(se.Targets) > 0 {
		return nil, fault.Input(errors.New("give either --target or --run, not both"))
	}
	own, err := se.OpenOwn(ctx)
	if err != nil {
		return nil, err
	}
	there, err := Open(ctx, o.Other, o.Push, o.Dry)
	if err != nil {
		return nil, fault.Input(err)
	}
	if own.URL == there.URL {
		return nil, fault.Input(fmt.Errorf("both stores are %s: name a different one", own.URL))
	}
	t, verb := &artifacts.Transfer{DryRun: o.Dry, From: own, To: se.Following(there)}, "push"
	if !o.Push {
		t.From, t.To, verb = t.To, own, "pull"
	}
	selected, err := o.selection(ctx, se, t.From)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s %s %q %q %v", verb, t.From.URL, se.Targets, o.Run, o.Only)
	sent, over := se.Copying("copied", 0)
	defer over()
	t.Sent = sent
	return t, Copy(ctx, t, verb+"-"+artifacts.Sum([]byte(name)).Short(), selected)
}

func (o Options) selection(ctx context.Context, se *session.Session, from artifacts.Store) (s Selection, err error) {
	switch {
	case len(se.Targets) > 0:
		s.Keys, err = Keys(ctx, se, from, o.Only)
		return s, err
	case o.Run != "":
		rec, err := se.FindRun(ctx, from, o.Run)
		if err != nil {
			return s, err
		}
		return Run(ctx, from, rec)
	}
	return All(ctx, from)
}

// Keys are those of the results of a session's targets in a store and, unless only is set, of
// what they need; without targets, of all results.
func Keys(ctx context.Context, se *session.Session, from artifacts.Store, only bool) ([]artifacts.Digest, error) {
	if len(se.Targets) == 0 {
		return artifacts.ResultKeys(ctx, from)
	}
	pl, _, err := se.LoadPlan(ctx)
	if err != nil {
		return nil, err
	}
	v, err := se.PreviewOf(ctx, from, pl, session.KeepNone)
	if err != nil {
		return nil, err
	}
	keys, missing := Targets(v, se.Targets, only)
	if len(missing) > 0 {
		others := ""
		if n := len(missing) - 1; n > 0 {
			others = fmt.Sprintf(" (nor %s of the targets)", words.Count(n, "other"))
		}
		return nil, fmt.Errorf("%s has no result in %s%s: %s", missing[0], from.URL, others, se.ToRun(se.Targets...))
	}
	return keys, nil
}
