package cli

import (
	"bufio"
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
)

// listUsed lists what the targets used of their machines, and the sum.
func (a *app) listUsed(ctx context.Context) error {
	type line struct {
		Address string          `json:"address"`
		TookS   float64         `json:"took_s"`
		Used    *artifacts.Used `json:"used,omitempty"` // nil: not measured
	}
	var of []*line
	var sum usage.Sum
	_, err := a.Preview(ctx, session.Ask{KeepOf: func(pl *plan.Plan, _ artifacts.Store) (plan.Keep, error) {
		of = make([]*line, len(pl.Steps))
		return func(i int, it *plan.Item) bool {
			if address := pl.Steps[i].Address; a.IsTarget(address) {
				of[i] = &line{address, it.Took.Seconds(), it.Result.Used}
				sum.Add(it.Took, it.Result.Used)
			}
			return false
		}, nil
	}})
	if err != nil {
		return err
	}
	lines := make([]line, 0, sum.Steps)
	for _, l := range of {
		if l != nil {
			lines = append(lines, *l)
		}
	}
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"steps": lines, "sum": sum})
	}
	out := bufio.NewWriter(a.Out)
	for _, l := range lines {
		view.Printf(out, "%s  took %s\n", l.Address, view.Seconds(seconds(l.TookS)))
		view.Rows(out, usage.Rows(l.Used), "not measured")
	}
	view.Printf(out, "%s with results together\n", view.Count(sum.Steps, "step"))
	view.Rows(out, sum.Rows(), "")
	return out.Flush()
}
