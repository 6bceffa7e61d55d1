package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/graph"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
)

func newGraphCmd(a *app) *cobra.Command {
	var format string
	var expand, outcomes bool
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw the graph of steps",
		Long: `Writes the graph of the pipeline, or of what the targets need. The instances of a for_each block are
one node unless --expand is given.

Colours and borders show what a run would do, as in plan: hit, run, resume, maybe. A node for several instances looks
like those that are still to be done, and says how many have results. --outcomes=false draws without reading results.`,
		Example: `  redsi graph --format svg > pipeline.svg
  redsi graph --target table.dedup_counts --format mermaid
  redsi graph --expand | dot -Tpdf > pipeline.pdf`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			draw := map[string]func(graph.Graph, io.Writer) error{"dot": graph.Graph.DOT, "svg": graph.Graph.SVG, "mermaid": graph.Graph.Mermaid}[format]
			if draw == nil {
				return fault.Input(fmt.Errorf("--format %s: want dot, svg or mermaid", format))
			}
			p, err := a.Load(cmd.Context())
			if err != nil {
				return err
			}
			pl, err := plan.Build(a.File, p, a.Registry, a.Targets)
			if err != nil {
				return a.TargetError(err)
			}
			var painted []string
			if outcomes {
				v, colours, err := a.planned(cmd.Context(), p)
				if err != nil {
					a.Log.Warn("the graph does not show outcomes: the steps could not be planned; --outcomes=false draws without them", "err", err)
				} else {
					pl, painted = v.Plan, colours
				}
			}
			g := graph.New(drive.GraphSteps(pl), expand)
			if painted != nil {
				g.PaintPlan(painted)
			}
			if a.JSON {
				return view.WriteJSON(a.Out, g)
			}
			return draw(g, a.Out)
		},
	}
	cmd.Flags().StringVar(&format, "format", "dot", "dot, svg or mermaid")
	cmd.Flags().BoolVar(&expand, "expand", false, "one node for each instance of a for_each block")
	cmd.Flags().BoolVar(&outcomes, "outcomes", true, "show what has a result and what must run")
	return with(cmd, a.pipelineFlags, a.fromFlags, a.targetFlag)
}

func (a *app) planned(ctx context.Context, p *pipeline.Pipeline) (session.Seen, []string, error) {
	v, err := a.PreviewTargets(ctx, p, a.Targets, nil)
	if err != nil {
		return v, nil, err
	}
	resumes, err := journal.Resumable(ctx, a.Registry, v.Store.Own, v.Preview)
	out := make([]string, len(v.Items))
	for i, it := range v.Items {
		out[i] = string(it.Outcome)
		if _, resume := resumes[i]; resume {
			out[i] = "resume"
		}
	}
	return v, out, err
}
