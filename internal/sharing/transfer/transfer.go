// Package transfer copies results and records between two stores: which of them a run, targets or all of a store are, and
// how an interrupted copy goes on. It must not know flags.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Options say what is copied between the store of a session and another one.
type Options struct {
	Other string // address of the other store
	Push  bool   // into the other store
	Only  bool   // targets without the steps that they need
	Run   string // the results and the record of this run
	Dry   bool
	Limit int64 // bytes a second that are read; 0: as many as can be
}

// Between copies the results that a session's targets or the options select, or else everything. The transfer says from
// where, to where, and what was copied.
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
	if own.Own.URL == there.URL {
		return nil, fault.Input(fmt.Errorf("both stores are %s: name a different one", own.Own.URL))
	}
	from, to, verb := own, se.Following(there), "push"
	if !o.Push {
		from, to, verb = to, from, "pull"
	}
	selected, err := o.selection(ctx, se, from)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s %s %q %q %v", verb, from.Own.URL, se.Targets, o.Run, o.Only)
	sent, over := se.Copying("copied", 0)
	defer over()
	reader := from.Own.Reader()
	if o.Limit > 0 {
		reader.Blobs = newPaced(reader.Blobs, o.Limit)
	}
	t := &artifacts.Transfer{From: reader, To: to.Own, DryRun: o.Dry, Sent: sent}
	return t, Copy(ctx, t, verb+"-"+artifacts.Sum([]byte(name)).Short(), selected)
}

func (o Options) selection(ctx context.Context, se *session.Session, from *artifacts.Resolver) (s Selection, err error) {
	switch {
	case len(se.Targets) > 0:
		s.Keys, err = Keys(ctx, se, from, o.Only)
		return s, err
	case o.Run != "":
		rec, err := se.FindRun(ctx, from.Own, o.Run)
		if err != nil {
			return s, err
		}
		return Run(ctx, from.Own, rec)
	}
	return All(ctx, from.Own)
}

// Keys returns the keys of the results of a session's targets in a store and, unless only is set, of the steps that they
// need; without targets, of all results.
func Keys(ctx context.Context, se *session.Session, from *artifacts.Resolver, only bool) ([]artifacts.Digest, error) {
	if len(se.Targets) == 0 {
		return artifacts.ResultKeys(ctx, from.Own.Records)
	}
	pl, _, err := se.LoadPlan(ctx)
	if err != nil {
		return nil, err
	}
	v, err := se.PreviewOf(ctx, from, pl, plan.KeepNone)
	if err != nil {
		return nil, err
	}
	var keys []artifacts.Digest
	var missing []string
	for i, s := range pl.Steps {
		asked := se.IsTarget(s.Address)
		switch it := v.Items[i]; {
		case it.Outcome == plan.Hit && (asked || !only):
			keys = append(keys, it.Key)
		case it.Outcome != plan.Hit && asked:
			missing = append(missing, s.Address)
		}
	}
	if len(missing) > 0 {
		others := ""
		if n := len(missing) - 1; n > 0 {
			others = fmt.Sprintf(" (nor %s of the targets)", words.Count(n, "other"))
		}
		return nil, fmt.Errorf("%s has no result in %s%s: %s", missing[0], from.Own.URL, others, se.ToRun(se.Targets...))
	}
	return keys, nil
}

// Open opens the other store. It creates a folder only to copy into it, and not in a dry run.
func Open(ctx context.Context, address string, into, dry bool) (artifacts.Store, error) {
	folder := open.Folder(address)
	if _, err := os.Stat(folder); folder != "" && errors.Is(err, fs.ErrNotExist) {
		if !into {
			return artifacts.Store{}, fmt.Errorf("there is no store %s", address)
		}
		if dry {
			empty := mem.New()
			empty.URL = address
			return empty, nil
		}
	}
	return open.Store(ctx, address)
}

// Selection is what is copied: results by their keys, and other records by their names.
type Selection struct {
	Keys    []artifacts.Digest
	Records []string
}

// All selects all results, runs, failures and pins of a store.
func All(ctx context.Context, from artifacts.Store) (s Selection, err error) {
	if s.Keys, err = artifacts.ResultKeys(ctx, from.Records); err != nil {
		return s, err
	}
	for _, prefix := range artifacts.Copied() {
		if err := s.add(ctx, from, prefix); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Run selects the results of a run, its record, and the failures of its steps.
func Run(ctx context.Context, from artifacts.Store, rec *runs.Record) (s Selection, err error) {
	finished := lists.Filter(rec.Steps, runs.Step.Finished)
	s.Keys = lists.Map(finished, func(s runs.Step) artifacts.Digest { return s.Key })
	err = s.add(ctx, from, artifacts.FailedPrefix+rec.RunID+"/")
	s.Records = append(s.Records, artifacts.RunsPrefix+rec.RunID)
	return s, err
}

func (s *Selection) add(ctx context.Context, from artifacts.Store, prefix string) error {
	names, err := artifacts.RecordNames(ctx, from.Records, prefix)
	s.Records = append(s.Records, names...)
	return err
}

// Copy copies a selection. Until it ends, garbage collection spares what has arrived, by a name that equal copies have.
func Copy(ctx context.Context, t *artifacts.Transfer, name string, s Selection) error {
	release, err := t.Hold(ctx, name)
	if err != nil {
		return err
	}
	err = t.Results(ctx, s.Keys)
	for _, r := range s.Records {
		if err == nil {
			err = t.Record(ctx, r)
		}
	}
	if err = cmp.Or(err, release()); err == nil {
		return nil
	}
	if done := t.Done(); ctx.Err() != nil || done.Results+done.Blobs > 0 {
		return fmt.Errorf("%w; %s have arrived, and the same command continues from there", err, words.Count(done.Blobs, "blob"))
	}
	return err
}
