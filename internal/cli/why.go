package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/step"
)

// whyStep is the answer to why for one step.
type whyStep struct {
	Address string              `json:"address"`
	Outcome plan.Outcome        `json:"outcome"`
	Reason  string              `json:"reason,omitempty"`
	From    string              `json:"from,omitempty"` // the other store that has the result
	Fetch   *int64              `json:"fetch_bytes,omitempty"`
	Passed  []string            `json:"not_used,omitempty"` // existing results, and why they are not used
	Waits   []string            `json:"waits_for,omitempty"`
	Against string              `json:"compared_with,omitempty"` // the run whose result the changes are since
	Changes []whyChange         `json:"changes,omitempty"`
	Counted []string            `json:"libraries,omitempty"` // the libraries of its interpreters, as in the key
	Origin  string              `json:"origin,omitempty"`
	Made    *whyMade            `json:"made,omitempty"` // of a hit
	Failed  *journal.Failed     `json:"failed_before,omitempty"`
	Resumes *journal.Checkpoint `json:"resumes,omitempty"` // what it continues from
}

// whyChange is a change with the place in the HCL that made it.
type whyChange struct {
	step.Change
	Where string `json:"where,omitempty"`
}

// whyMade is how a result was made.
type whyMade struct {
	Key      artifacts.Digest `json:"key"`
	Run      string           `json:"run"`
	As       string           `json:"as,omitempty"` // the step's address then, if it was another
	Finished time.Time        `json:"finished"`
	TookS    float64          `json:"took_s"`
	Revision string           `json:"revision,omitempty"` // of redsi
	Inputs   []whyInput       `json:"inputs,omitempty"`
	Rebuilt  *attest.Told     `json:"rebuilt,omitempty"` // who rebuilt it

	Accepted *artifacts.Acceptance `json:"accepted,omitempty"` // why it is valid for this key
}

// whyInput is an input that the result was made from.
type whyInput struct {
	Path   string `json:"path"` // attribute that reads it
	Step   string `json:"step"` // that has these bytes now
	Output string `json:"output"`
	Digest string `json:"digest"`
}

func newWhyCmd(a *app) *cobra.Command {
	run := ""
	cmd := &cobra.Command{
		Use:   "why STEP|TABLE",
		Short: "Explain why a step is a hit, must run or ran: what changed since its newest result, with file and line",
		Long: `Explain why a step is a hit or must run: what changed since its newest result, with
file and line. For a hit it says which run made the result, and from what.

With --run it explains why the step ran in that run, or did not: what had changed
since the last run before it with a result.`,
		Example: `  redsi why table.dedup_counts
  redsi why 'step.dedup.nq["url"]'
  redsi why 'step.dedup.nq["url"]' --run last`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if run != "" {
				return a.whyRan(cmd.Context(), args[0], run)
			}
			return a.whyNow(cmd.Context(), args[0])
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	cmd.Flags().StringVar(&run, "run", "", "explain this ended run: its id, a part of it, last or last~1")
	return cmd
}

// whyNow answers for the next run.
func (a *app) whyNow(ctx context.Context, target string) error {
	a.Targets = []string{target}
	pl, _, err := a.LoadPlan(ctx)
	if err != nil {
		return err
	}
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	v, err := a.PreviewOf(ctx, store, pl, func(i int, _ *plan.Item) bool { return plan.Matches(target, pl.Steps[i].Address) })
	if err != nil {
		return err
	}
	own := store.Own()
	past, err := a.Journal(ctx, own, v)
	if err != nil {
		return err
	}
	others, err := a.OthersOf(ctx, store, v)
	if err != nil {
		return err
	}
	book, err := a.book(ctx, store)
	if err != nil {
		return err
	}
	var answers []whyStep
	for i, s := range pl.Steps {
		if !plan.Matches(target, s.Address) {
			continue
		}
		it := v.Items[i]
		w := whyStep{Address: s.Address, Outcome: it.Outcome, Origin: it.Run, Counted: a.Counted(pl.Steps[i : i+1])}
		if w.From = it.From; w.From != "" {
			if size, ok := others.Fetch[i]; ok {
				w.Fetch = &size
			}
		}
		for _, p := range a.Belief.Passed[it.Key] {
			w.Passed = append(w.Passed, p.String())
			if do := a.Belief.WhatToDo(p); do != "" {
				w.Passed = append(w.Passed, "-> "+do)
			}
		}
		for _, d := range it.Waits {
			w.Waits = append(w.Waits, pl.Steps[d].Address)
		}
		switch it.Outcome {
		case plan.Run:
			changes, note, err := past.Changes(ctx, own, v, i, a.Differ(ctx, own))
			if err != nil {
				return err
			}
			w.Reason, w.Against = note, past.Run[s.Address]
			if f, ok := past.Failed[i]; ok {
				w.Failed = &f
			}
			if c, ok := past.Saved[i]; ok {
				w.Resumes = &c
			}
			for _, c := range changes {
				wc := whyChange{Change: c}
				if p, ok := s.AttrPos[c.Attribute()]; ok {
					wc.Where = fmt.Sprintf("%s:%d", p.File, p.Line)
				}
				w.Changes = append(w.Changes, wc)
			}
		case plan.Hit:
			if w.Made, err = madeOf(s, it); err != nil {
				return fmt.Errorf("%s: %w", s.Address, err)
			}
			if w.Made.Rebuilt, err = book.Of(ctx, it.Key, it.Result.OutputsDigest()); err != nil {
				return err
			}
		}
		answers = append(answers, w)
	}
	if a.JSON {
		err = view.WriteJSON(a.Out, answers)
	} else {
		a.printWhy(answers)
	}
	if err != nil {
		return err
	}
	return a.SayDown(store, "it may have the result")
}

// madeOf says how the result of a hit was made.
func madeOf(s plan.Step, it plan.Item) (*whyMade, error) {
	r := it.Result
	m := &whyMade{Key: it.Key, Run: r.Origin.RunID, Finished: r.Finished, TookS: r.Took.Seconds(), Revision: r.Env["revision"], Accepted: it.Accepted}
	if r.Origin.Step != s.Address {
		m.As = r.Origin.Step
	}
	bound := map[string]string{}
	err := session.InputsOf(it.Task, func(path string, in step.Input) {
		if in.Artifact != nil {
			bound[path] = in.Artifact.Digest.String()
		}
	})
	if err != nil {
		return nil, err
	}
	return m, session.InputsOf(s.Task, func(path string, in step.Input) {
		if in.Ref != nil {
			m.Inputs = append(m.Inputs, whyInput{path, in.Ref.Step, in.Ref.Output, bound[path]})
		}
	})
}

// inputsShown bounds the inputs of a step that are printed.
const inputsShown = 12

func (a *app) printWhy(answers []whyStep) {
	st := a.style(a.Out)
	for _, w := range answers {
		view.Printf(a.Out, "%s  %s\n", st.Outcome(string(w.Outcome), string(w.Outcome)), w.Address)
		if w.From != "" {
			text := "       its result is in " + w.From
			if w.Fetch != nil {
				text += ", " + view.Size(*w.Fetch) + " to fetch"
			}
			view.Println(a.Out, text)
		}
		for _, p := range w.Passed {
			view.Printf(a.Out, "       %s\n", p)
		}
		if w.Failed != nil {
			view.Printf(a.Out, "       %s\n", w.Failed)
		}
		switch {
		case w.Made != nil:
			a.printMade(w.Made)
		case w.Outcome == plan.Maybe:
			for _, d := range w.Waits {
				view.Printf(a.Out, "       its key is not known until %s has run: %s\n", d, a.hint("why", d))
			}
		case len(w.Changes) == 0:
			view.Printf(a.Out, "       %s\n", w.Reason)
		default:
			view.Printf(a.Out, "       changed since run %s:\n", w.Against)
		}
		a.printChanges(w.Changes)
		for _, l := range w.Counted {
			view.Printf(a.Out, "       in its key: %s\n", l)
		}
		if w.Resumes != nil && w.Reason != w.Resumes.String() {
			view.Printf(a.Out, "       %s\n", w.Resumes)
		}
	}
}

func (a *app) printMade(m *whyMade) {
	view.Printf(a.Out, "       made by run %s, finished %s, took %s, by redsi %s\n", m.Run, m.Finished.Local().Format(time.DateTime), view.Seconds(seconds(m.TookS)), m.Revision)
	if m.As != "" {
		view.Printf(a.Out, "       as %s: names are not part of keys\n", m.As)
	}
	if m.Accepted != nil {
		a.printAccepted(m.Accepted)
		return
	}
	view.Printf(a.Out, "       unchanged since: its kind, its configuration and the bytes of its inputs (key %s)\n", shortDigest(m.Key.String()))
	if m.Rebuilt != nil {
		view.Rebuilt(a.Out, "       ", m.Rebuilt)
	}
	for i, in := range m.Inputs {
		if i == inputsShown {
			view.Printf(a.Out, "       and %s more\n", view.Count(len(m.Inputs)-i, "input"))
			break
		}
		view.Printf(a.Out, "       %s <- %s.%s  %s\n", in.Path, in.Step, in.Output, shortDigest(in.Digest))
	}
}

// printAccepted says why a result made under another key is used.
func (a *app) printAccepted(x *artifacts.Acceptance) {
	view.Printf(a.Out, "       %s (%s)\n", x.Sentence(), x.When.Local().Format(time.DateTime))
	view.Printf(a.Out, "       it was made under key %s; differences accepted as irrelevant:\n", shortDigest(x.Of.String()))
	for _, c := range x.Changes {
		view.Printf(a.Out, "       %s\n", step.Change{Path: c.Path, Old: c.Old, New: c.New})
	}
}

func (a *app) printChanges(changes []whyChange) {
	st := a.style(a.Out)
	for _, c := range changes {
		view.Printf(a.Out, "       %s", c.Change)
		if c.Where != "" {
			view.Printf(a.Out, "  %s", st.Dim(c.Where))
		}
		view.Println(a.Out)
	}
}
