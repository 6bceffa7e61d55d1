package files

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
)

// Output is an output of a step that has a result.
type Output struct {
	Address string `json:"address"`
	Output  string `json:"output"`
	artifacts.Artifact
	Accepted string       `json:"accepted,omitempty"` // by whom and why, if it was computed under another key
	Rebuilt  *attest.Told `json:"rebuilt,omitempty"`  // who rebuilt the step
	Count    int          `json:"-"`                  // of its files
	Last     bool         `json:"-"`                  // of its step
}

// List lists the outputs of a step, the output named STEP.OUTPUT, or the outputs of all steps; trees says whether a tree
// comes with the list of its files, which may be long.
func List(ctx context.Context, se *session.Session, name string, trees bool) ([]Output, error) {
	address, only, _ := split(name)
	if name != "" {
		se.Targets = []string{address}
	}
	var untold error
	var of [][]Output
	_, err := se.Preview(ctx, func(v session.Seen) (plan.Keep, error) {
		of = make([][]Output, len(v.Plan.Steps))
		book, err := se.Book(ctx, v.Store.Own)
		return func(i int, it *plan.Item) bool {
			address := v.Plan.Steps[i].Address
			if !se.IsTarget(address) {
				return false
			}
			told, err := book.Of(ctx, it.Key, it.Result.OutputsDigest())
			if err != nil {
				untold = err
			}
			names := slices.Sorted(maps.Keys(it.Result.Outputs))
			if only != "" {
				if _, err := outputOf(address, it.Result, only); err != nil {
					untold = err
				}
				names = slices.DeleteFunc(names, func(name string) bool { return name != only })
			}
			for k, name := range names {
				o := Output{Address: address, Output: name, Artifact: it.Result.Outputs[name], Rebuilt: told, Count: len(it.Result.Outputs[name].Files), Last: k == len(names)-1}
				if it.Accepted != nil {
					o.Accepted = it.Accepted.Sentence()
				}
				if !trees {
					o.Files = nil
				}
				of[i] = append(of[i], o)
			}
			return false
		}, err
	})
	return slices.Concat(of...), errors.Join(err, untold)
}

// Used is the use of its machine by a step.
type Used struct {
	Address string          `json:"address"`
	TookS   float64         `json:"took_s"`
	Used    *artifacts.Used `json:"used,omitempty"` // nil: not measured
}

// ListUsed lists how the steps of a session's targets used their machines, and the sum.
func ListUsed(ctx context.Context, se *session.Session) (list []Used, sum usage.Sum, err error) {
	var of [][]Used
	_, err = se.Preview(ctx, func(v session.Seen) (plan.Keep, error) {
		of = make([][]Used, len(v.Plan.Steps))
		return func(i int, it *plan.Item) bool {
			if address := v.Plan.Steps[i].Address; se.IsTarget(address) {
				of[i] = []Used{{address, it.Took.Seconds(), it.Result.Used}}
				sum.Add(it.Took, it.Result.Used)
			}
			return false
		}, nil
	})
	return slices.Concat(of...), sum, err
}
