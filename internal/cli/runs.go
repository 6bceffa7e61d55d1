package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/workflows"
)

const runPrefix = "runs/"

// runIDs lists the runs recorded in a store, oldest first.
func runIDs(ctx context.Context, store artifacts.Store) ([]string, error) {
	ids, err := recordsUnder(ctx, store, runPrefix)
	for i, name := range ids {
		ids[i] = strings.TrimPrefix(name, runPrefix)
	}
	return ids, err
}

// findRun reads the record of a run, given by its id, the beginning or the end of that,
// "last", or "last~N" for the Nth before that.
func (a *app) findRun(ctx context.Context, store artifacts.Store, name string) (*workflows.RunRecord, error) {
	ids, err := runIDs(ctx, store)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, fault.Input(errors.New("this store has no record of a run"))
	}
	if back, ok := strings.CutPrefix(name, "last"); ok {
		var n uint64
		if back != "" {
			digits, ok := strings.CutPrefix(back, "~")
			if n, err = strconv.ParseUint(digits, 10, 31); !ok || err != nil {
				return nil, fault.Input(fmt.Errorf("%q is not last or last~N", name))
			}
		}
		rec, of, err := a.lastRun(ctx, store, ids, int(n))
		if err == nil && rec == nil {
			err = fault.Input(fmt.Errorf("%s: this store has records of only %s of this project; a run with nothing to do is not recorded", name, view.Count(of, "run")))
		}
		return rec, err
	}
	var found []string
	for _, id := range ids {
		if id == name {
			return activities.ReadRun(ctx, store, id)
		}
		if strings.HasPrefix(id, name) || strings.HasSuffix(id, name) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return activities.ReadRun(ctx, store, found[0])
	case 0:
		return nil, fault.Input(fmt.Errorf("there is no run %q; the newest is %s", name, ids[len(ids)-1]))
	}
	return nil, fault.Input(fmt.Errorf("%q could be %s", name, strings.Join(found, " or ")))
}

// lastRun reads the newest run of this project, or the n-th before it; without a project, of
// all. If there are fewer, it returns nil and how many there are.
func (a *app) lastRun(ctx context.Context, store artifacts.Store, ids []string, n int) (rec *workflows.RunRecord, of int, err error) {
	project := a.project()
	for _, id := range slices.Backward(ids) {
		rec, err := activities.ReadRun(ctx, store, id)
		if err != nil {
			return nil, of, err
		}
		if project != "" && rec.Project != "" && rec.Project != project {
			continue
		}
		if of == n {
			return rec, of, nil
		}
		of++
	}
	return nil, of, nil
}

// recordsBefore reads the records of the runs before one ("": of all), newest first, at most
// runsRead; damaged ones are left out.
func (a *app) recordsBefore(ctx context.Context, store artifacts.Store, run string) iter.Seq2[*workflows.RunRecord, error] {
	return func(yield func(*workflows.RunRecord, error) bool) {
		ids, err := runIDs(ctx, store)
		if err != nil {
			yield(nil, err)
			return
		}
		if run != "" {
			ids = ids[:sort.SearchStrings(ids, run)]
		}
		for _, id := range slices.Backward(ids[max(0, len(ids)-runsRead):]) {
			rec, err := activities.ReadRun(ctx, store, id)
			var damaged *activities.DamagedRunError
			if errors.As(err, &damaged) {
				continue
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}
