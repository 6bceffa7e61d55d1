package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
)

func newTraceCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace TABLE[:ROW.COLUMN] | STEP",
		Short: "Trace one number, or a step, to the artifacts, steps, keys and sources that it comes from",
		Long: `Trace one number to the JSON field, artifact, steps, keys and sources that it comes
from. For a table or figure it lists the names of the cells. For a step it shows how
it ran (key, run, notes, what isolation found), its inputs and outputs, and the same
for each step before it.`,
		Example: `  redsi trace table.dedup_counts
  redsi trace table.dedup_counts:url.train
  redsi trace figure.model_scaling:atomic.tiny.y --json
  redsi trace step.train.dsi`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if isStep(args[0]) {
				t, err := a.traceStep(ctx, args[0])
				if err != nil {
					return err
				}
				if a.JSON {
					return view.WriteJSON(a.Out, t)
				}
				view.TracedSteps(a.Out, t.Steps)
				return nil
			}
			if address, _, ok := strings.Cut(args[0], ":"); !ok {
				l, err := a.cells(ctx, address)
				if err != nil {
					return err
				}
				if a.JSON {
					return view.WriteJSON(a.Out, l)
				}
				view.Printf(a.Out, "%s  %s x %s\n", address, view.Count(l.Rows, "row"), view.Count(l.Columns, "column"))
				view.Cells(a.Out, l, quoted)
				if len(l.Cells) > 0 {
					view.Printf(a.Out, "to trace one of them: %s\n", a.hint("trace", l.Cells[0].Name))
				}
				return nil
			}
			t, err := a.trace(ctx, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return view.WriteJSON(a.Out, t)
			}
			view.Trace(a.Out, t)
			return nil
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	return cmd
}

// isStep reports whether a name is a step's, which may have a colon in its key.
func isStep(name string) bool { return pipeline.BlockType(name) == "step" }

// traceStep traces a step.
func (a *app) traceStep(ctx context.Context, target string) (*report.Trace, error) {
	a.Targets = []string{target}
	v, store, err := a.PreviewFor(ctx, session.KeepAll)
	if err != nil {
		return nil, err
	}
	t, err := report.TraceStep(v, target)
	if err != nil {
		return nil, a.untraced(err, target)
	}
	book, err := a.Book(ctx, store)
	if err == nil {
		err = report.Attested(ctx, book, t.Steps)
	}
	return t, err
}

// cells lists the cells of a table or figure.
func (a *app) cells(ctx context.Context, address string) (*report.CellList, error) {
	a.Targets = []string{address}
	v, store, err := a.PreviewFor(ctx, session.KeepAll)
	if err != nil {
		return nil, err
	}
	l, err := report.Cells(ctx, v, store.Blobs.Open, address)
	return l, a.untraced(err, address)
}

// trace traces a cell, with the fields that it was read from.
func (a *app) trace(ctx context.Context, name string) (*report.Trace, error) {
	address, _, _ := strings.Cut(name, ":")
	a.Targets = []string{address}
	seen, err := a.Preview(ctx, session.Ask{Keep: session.KeepAll})
	if err != nil {
		return nil, err
	}
	v, store := seen.Preview, seen.Store
	t, err := report.TraceCell(ctx, v, seen.Pipeline.Claims, store.Blobs.Open, name)
	if err != nil {
		return nil, a.untraced(err, address)
	}
	book, err := a.Book(ctx, store)
	if err == nil {
		err = report.Attested(ctx, book, t.Steps)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range v.Plan.Steps {
		if s.Address != t.Address {
			continue
		}
		tree, err := s.Task.Tree()
		if err != nil {
			return nil, err
		}
		reads, err := a.Registry.Lookup(s.Task.Kind).Reads(tree)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		for _, r := range reads {
			if !slices.Contains(r.Of, t.Cell) || r.Input.Ref == nil {
				continue
			}
			for i, from := range t.Sources {
				if from.Step == r.Input.Ref.Step && from.Output == r.Input.Ref.Output && !slices.Contains(from.Fields, r.Field()) {
					t.Sources[i].Fields = append(from.Fields, r.Field())
				}
			}
		}
	}
	byReading(t.Sources)
	return t, nil
}

// byReading sorts, among sources with the same bytes, the one first that the configuration
// reads.
func byReading(list []report.Source) {
	slices.SortStableFunc(list, func(x, y report.Source) int {
		if x.Digest != y.Digest {
			return 0
		}
		return cmp.Compare(min(len(y.Fields), 1), min(len(x.Fields), 1))
	})
	seen := map[string]bool{}
	for i, s := range list {
		list[i].Same = seen[s.Digest]
		seen[s.Digest] = true
	}
}

// untraced adds a hint to an error.
func (a *app) untraced(err error, address string) error {
	var unknown *report.UnknownCell
	var notRun *report.NotRunError
	switch {
	case errors.As(err, &notRun):
		return fmt.Errorf("%w: %s", err, a.hint("run", "--target", address))
	case errors.As(err, &unknown) && unknown.Name != address:
		return fault.Input(fmt.Errorf("%w; %s lists its cells", err, a.hint("trace", address)))
	case errors.As(err, &unknown):
		return fault.Input(err)
	}
	return err
}
