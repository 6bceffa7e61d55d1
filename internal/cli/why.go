package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/plan"
	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/step"
)

// whyStep is the answer to why for one step.
type whyStep struct {
	Address string       `json:"address"`
	Outcome plan.Outcome `json:"outcome"`
	Reason  string       `json:"reason,omitempty"`
	Waits   []string     `json:"waits_for,omitempty"`
	Changes []whyChange  `json:"changes,omitempty"`
	Origin  string       `json:"origin,omitempty"`
}

// whyChange is a change with the place in the HCL that made it.
type whyChange struct {
	step.Change
	Where string `json:"where,omitempty"`
}

func newWhyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "why STEP|TABLE",
		Short: "Say why a step is a hit or must run: what changed since its newest result, with file and line",
		Example: `  redsi why table.dedup_counts
  redsi why 'step.dedup.nq["url"]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.Targets = args
			v, store, err := a.previewFor(cmd.Context(), keepNone)
			if err != nil {
				return err
			}
			past, err := a.journalOf(cmd.Context(), store, v)
			if err != nil {
				return err
			}
			var answers []whyStep
			for i, s := range v.Plan.Steps {
				if !plan.Matches(args[0], s.Address) {
					continue
				}
				it := v.Items[i]
				w := whyStep{Address: s.Address, Outcome: it.Outcome}
				for _, d := range it.Waits {
					w.Waits = append(w.Waits, v.Plan.Steps[d].Address)
				}
				if it.Outcome == plan.Run {
					changes, note, err := a.changes(cmd.Context(), store, v, i, past)
					if err != nil {
						return err
					}
					w.Reason = note
					for _, c := range changes {
						wc := whyChange{Change: c}
						if p, ok := s.AttrPos[c.Attribute()]; ok {
							wc.Where = fmt.Sprintf("%s:%d", p.File, p.Line)
						}
						w.Changes = append(w.Changes, wc)
					}
				}
				w.Origin = it.Run
				answers = append(answers, w)
			}
			if a.JSON {
				return view.WriteJSON(a.Out, answers)
			}
			a.printWhy(answers)
			return nil
		},
	}
	a.pipelineFlags(cmd)
	return cmd
}

func (a *app) printWhy(answers []whyStep) {
	st := a.style(a.Out)
	for _, w := range answers {
		view.Printf(a.Out, "%s  %s\n", st.Outcome(string(w.Outcome), string(w.Outcome)), w.Address)
		switch {
		case w.Outcome == plan.Hit:
			view.Printf(a.Out, "       its key has a complete result, from run %s\n", w.Origin)
		case w.Outcome == plan.Maybe:
			for _, d := range w.Waits {
				view.Printf(a.Out, "       its key is known after %s has run (redsi why %s)\n", d, d)
			}
		case len(w.Changes) == 0:
			view.Printf(a.Out, "       %s\n", w.Reason)
		}
		for _, c := range w.Changes {
			view.Printf(a.Out, "       %s", c.Change)
			if c.Where != "" {
				view.Printf(a.Out, "  %s", st.Dim(c.Where))
			}
			view.Println(a.Out)
		}
	}
}
