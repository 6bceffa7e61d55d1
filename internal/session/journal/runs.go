package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

// Find reads the record of a run of a project, given by its id, the beginning or the end of that,
// "last", or "last~N" for the Nth before that.
func Find(ctx context.Context, store artifacts.Store, project, name string) (*runs.Record, error) {
	ids, err := runs.IDs(ctx, store)
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
		rec, of, err := last(ctx, store, project, int(n))
		if err == nil && rec == nil {
			err = fault.Input(fmt.Errorf("%s: this store has records of only %s of this project; a run with nothing to do is not recorded", name, words.Count(of, "run")))
		}
		return rec, err
	}
	var found []string
	for _, id := range ids {
		if id == name {
			return runs.Read(ctx, store, id)
		}
		if strings.HasPrefix(id, name) || strings.HasSuffix(id, name) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return runs.Read(ctx, store, found[0])
	case 0:
		return nil, fault.Input(fmt.Errorf("there is no run %q; the newest is %s", name, ids[len(ids)-1]))
	}
	return nil, fault.Input(fmt.Errorf("%q could be %s", name, strings.Join(found, " or ")))
}

// last reads the newest run of a project, or the n-th before it. If there are fewer, it
// returns nil and how many there are.
func last(ctx context.Context, store artifacts.Store, project string, n int) (rec *runs.Record, of int, err error) {
	ours := func(rec *runs.Record) bool { return OfProject(rec, project) }
	for rec, err := range runs.Backward(ctx, store, "", ours, 0) {
		if err != nil {
			return nil, of, fmt.Errorf("%w; it may be the one: name a run by its id, or remove that record with redsi verify --repair", err)
		}
		if of == n {
			return rec, of, nil
		}
		of++
	}
	return nil, of, nil
}

// OfProject reports whether a run belongs to a project; without a project, all do.
func OfProject(rec *runs.Record, project string) bool {
	return project == "" || rec.Project == "" || rec.Project == project
}

// newest is runs.Backward for at most runsRead records of a pipeline of a project, without damaged ones.
func newest(ctx context.Context, store artifacts.Store, run, project, pipeline string) iter.Seq2[*runs.Record, error] {
	return func(yield func(*runs.Record, error) bool) {
		read := 0
		of := func(rec *runs.Record) bool { return rec.Of(project, pipeline) }
		for rec, err := range runs.Backward(ctx, store, run, of, runsLooked) {
			var damaged *runs.DamagedError
			if !errors.As(err, &damaged) && (!yield(rec, err) || err != nil) {
				return
			}
			if read++; read == runsRead {
				return
			}
		}
	}
}

// Earlier is a step's result in an earlier run.
type Earlier struct {
	Run string
	Key artifacts.Digest
}

// Before finds the newest results of steps in the runs of the same pipeline before a run.
func Before(ctx context.Context, store artifacts.Store, rec *runs.Record, wanted map[string]bool) (map[string]Earlier, error) {
	found := map[string]Earlier{}
	left := 0
	for _, w := range wanted {
		if w {
			left++
		}
	}
	for old, err := range newest(ctx, store, rec.RunID, rec.Project, rec.Pipeline) {
		if err != nil || left == 0 {
			return found, err
		}
		for _, s := range old.Steps {
			if _, have := found[s.Address]; have || !wanted[s.Address] || !s.Finished() {
				continue
			}
			found[s.Address] = Earlier{old.RunID, s.Key}
			left--
		}
	}
	return found, nil
}
