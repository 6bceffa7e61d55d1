// Package transfer copies results and records between two stores: which ones a run, targets
// or the whole store are, and how an interrupted copy goes on. It must not know flags.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

// Open opens the other store. A folder is created only to copy into it, and only if that is
// not just tried.
func Open(ctx context.Context, address string, into, dry bool) (artifacts.Store, error) {
	if _, err := os.Stat(address); !strings.Contains(address, ":") && errors.Is(err, fs.ErrNotExist) {
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
	if s.Keys, err = artifacts.ResultKeys(ctx, from); err != nil {
		return s, err
	}
	for _, prefix := range []string{artifacts.FailedPrefix, artifacts.RunsPrefix, artifacts.PinsPrefix} {
		if err := s.add(ctx, from, prefix); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Run selects the results of a run, its record, and the failures of its steps.
func Run(ctx context.Context, from artifacts.Store, rec *workflows.RunRecord) (s Selection, err error) {
	for _, step := range rec.Steps {
		if journal.Finished(step) {
			s.Keys = append(s.Keys, step.Key)
		}
	}
	err = s.add(ctx, from, artifacts.FailedPrefix+rec.RunID+"/")
	s.Records = append(s.Records, artifacts.RunsPrefix+rec.RunID)
	return s, err
}

func (s *Selection) add(ctx context.Context, from artifacts.Store, prefix string) error {
	names, err := artifacts.RecordNames(ctx, from.Records, prefix)
	s.Records = append(s.Records, names...)
	return err
}

// Targets selects the results of targets and, unless only is set, of what they need. missing
// are the targets' steps that have no result.
func Targets(v *plan.Preview, targets []string, only bool) (keys []artifacts.Digest, missing []string) {
	for i, s := range v.Plan.Steps {
		asked := slices.ContainsFunc(targets, func(target string) bool { return plan.Matches(target, s.Address) })
		switch it := v.Items[i]; {
		case it.Outcome == plan.Hit && (asked || !only):
			keys = append(keys, it.Key)
		case it.Outcome != plan.Hit && asked:
			missing = append(missing, s.Address)
		}
	}
	return keys, missing
}

// Copy copies a selection. Garbage collection spares what has arrived until all has, under a
// name that is the same for the same copy.
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
	if err == nil {
		return release()
	}
	if done := t.Done(); ctx.Err() != nil || done.Results+done.Blobs > 0 {
		return fmt.Errorf("%w; %s have arrived, and the same command continues from there", err, words.Count(done.Blobs, "blob"))
	}
	return err
}
