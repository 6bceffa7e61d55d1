package activities

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/workflows"
)

// Spent is what all runs of a pipeline took, as far as the store has their records: the
// work behind results, each key once, and that of steps that failed or were cancelled.
type Spent struct {
	Runs      int       `json:"runs"`
	Damaged   int       `json:"damaged_runs"` // whose records cannot be read: in nothing of this
	Results   usage.Sum `json:"results"`      // with their parts
	Gone      int       `json:"results_gone"` // of Results, those that the store has no more: how long they took is in the records
	Failed    Lost      `json:"failed"`
	Cancelled Lost      `json:"cancelled"`
}

// Lost is the work of steps that left no result: of each in each run, its last attempt.
type Lost struct {
	Steps int           `json:"steps"`
	Took  time.Duration `json:"-"`
	TookS float64       `json:"took_s"`
}

func (l *Lost) add(seconds float64) {
	l.Steps++
	l.Took += time.Duration(seconds * float64(time.Second))
	l.TookS = l.Took.Seconds()
}

// Took is the time of all work, one step after another.
func (s *Spent) Took() time.Duration { return s.Results.Took + s.Failed.Took + s.Cancelled.Took }

// spentLooked bounds the results that are held at a time.
const spentLooked = 1024

// SpentBy adds up the runs of a pipeline of a project. It reads every record of a run, of
// a failure, and of a result that those runs have: its time grows with them, its memory with
// the number of different results.
func SpentBy(ctx context.Context, store artifacts.Store, project, pipeline string) (*Spent, error) {
	names, err := artifacts.RecordNames(ctx, store.Records, runPrefix)
	if err != nil {
		return nil, err
	}
	s := &Spent{}
	seen := map[artifacts.Digest]bool{}
	var keys []artifacts.Digest
	took := map[artifacts.Digest]time.Duration{}
	look := func() error {
		found, err := artifacts.Inspect(ctx, store, keys)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if r := found[key].Result; r != nil {
				s.Results.Add(r.Took, r.Used)
			} else {
				s.Results.Add(took[key], nil)
				s.Gone++
			}
		}
		keys = keys[:0]
		clear(took)
		return nil
	}
	runs := map[string]bool{}
	for _, name := range names {
		rec, err := ReadRun(ctx, store, strings.TrimPrefix(name, runPrefix))
		var damaged *DamagedRunError
		switch {
		case errors.As(err, &damaged):
			s.Damaged++
			continue
		case errors.Is(err, artifacts.ErrNotExist): // removed meanwhile
			continue
		case err != nil:
			return nil, err
		case !rec.Of(project, pipeline):
			continue
		}
		s.Runs++
		runs[rec.RunID] = true
		for _, x := range rec.Steps {
			if x.Key.IsZero() || seen[x.Key] || x.Outcome != workflows.Hit && x.Outcome != workflows.Ran {
				continue
			}
			seen[x.Key] = true
			keys = append(keys, x.Key)
			took[x.Key] = time.Duration(x.TookS * float64(time.Second))
			if len(keys) == spentLooked {
				if err := look(); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := look(); err != nil {
		return nil, err
	}
	return s, FailuresOf(ctx, store, "", func(f Failure) bool {
		switch {
		case !runs[f.RunID]:
		case f.Outcome == CancelledStep:
			s.Cancelled.add(f.TookS)
		default:
			s.Failed.add(f.TookS)
		}
		return true
	})
}
