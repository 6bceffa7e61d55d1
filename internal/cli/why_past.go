package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/workflows"
)

// whyPast is the answer to why for one step of a run that has ended.
type whyPast struct {
	Address string           `json:"address"`
	Run     string           `json:"run"`
	Outcome workflows.Status `json:"outcome"`
	Reason  string           `json:"reason,omitempty"`
	Against string           `json:"compared_with,omitempty"` // the last run before it with a result
	Changes []whyChange      `json:"changes,omitempty"`
	Made    *whyMade         `json:"made,omitempty"` // of a hit
}

// whyRan answers for a run that has ended, without reading the pipeline.
func (a *app) whyRan(ctx context.Context, target, name string) error {
	a.ReadResults(ctx)
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	rec, err := a.FindRun(ctx, store, name)
	if err != nil {
		return err
	}
	var answers []whyPast
	wanted := map[string]bool{}
	for _, s := range rec.Steps {
		if plan.Matches(target, s.Address) {
			answers = append(answers, whyPast{Address: s.Address, Run: rec.RunID, Outcome: s.Outcome, Reason: s.Error})
			wanted[s.Address] = s.Outcome == workflows.Ran || s.Outcome == workflows.Failed
		}
	}
	if len(answers) == 0 {
		return fault.Input(fmt.Errorf("run %s has no step %s; it had %s", rec.RunID, target, view.Count(len(rec.Steps), "step")))
	}
	before, err := journal.Before(ctx, store, rec, wanted)
	if err != nil {
		return err
	}
	keys := map[string]artifacts.Digest{}
	var all []artifacts.Digest
	for _, s := range rec.Steps {
		if _, ok := wanted[s.Address]; ok && !s.Key.IsZero() {
			keys[s.Address] = s.Key
			all = append(all, s.Key, before[s.Address].Key)
		}
	}
	entries, err := artifacts.Inspect(ctx, store, all)
	if err != nil {
		return err
	}
	for i := range answers {
		w := &answers[i]
		if err := w.explain(a.Differ(ctx, store), keys[w.Address], before[w.Address], entries); err != nil {
			return fmt.Errorf("%s: %w", w.Address, err)
		}
	}
	if a.JSON {
		return view.WriteJSON(a.Out, answers)
	}
	st := a.style(a.Out)
	for _, w := range answers {
		view.Printf(a.Out, "%s  %s  %s\n", st.Outcome(string(w.Outcome), string(w.Outcome)), w.Address, st.Dim("in run "+w.Run))
		if w.Reason != "" {
			view.Printf(a.Out, "       %s\n", view.Lines(w.Reason))
		}
		if w.Made != nil {
			view.Printf(a.Out, "       it had a result: made by run %s, finished %s, took %s\n", w.Made.Run, w.Made.Finished.Local().Format(time.DateTime), view.Seconds(seconds(w.Made.TookS)))
		}
		if len(w.Changes) > 0 {
			view.Printf(a.Out, "       changed since run %s:\n", w.Against)
		}
		a.printChanges(w.Changes)
	}
	return nil
}

// explain says why a step ran, from the results in the store.
func (w *whyPast) explain(differ journal.Differ, key artifacts.Digest, before journal.Earlier, entries map[artifacts.Digest]artifacts.Entry) error {
	is := entries[key].Result
	switch {
	case w.Outcome == workflows.Hit && is != nil:
		w.Made = &whyMade{Key: key, Run: is.Origin.RunID, Finished: is.Finished, TookS: is.Took.Seconds(), Revision: is.Env["revision"]}
		return nil
	case w.Outcome == workflows.Hit:
		w.Reason = "it had a result, which is no longer in the store"
		return nil
	case w.Outcome != workflows.Ran && w.Outcome != workflows.Failed:
		return nil
	}
	w.Against = before.Run
	was := entries[before.Key].Result
	add := func(text string) {
		if w.Reason != "" {
			text = w.Reason + "\n" + text
		}
		w.Reason = text
	}
	switch {
	case before.Run == "":
		add("no earlier run had a result of it")
	case key.IsZero(): // not known in that run
	case before.Key == key:
		add("nothing had changed since run " + before.Run + ": its result was no longer complete in the store (forgotten, collected or lost)")
	case is == nil && w.Outcome == workflows.Failed:
		add("its key differs from that in run " + before.Run + "; what changed is known once it has a result")
	case is == nil || was == nil:
		add("its key differs from that in run " + before.Run + ", but a result is no longer in the store, so what changed is unknown")
	default:
		changes, err := differ(was.Preimage, is.Preimage)
		for _, c := range changes {
			w.Changes = append(w.Changes, whyChange{Change: c})
		}
		return err
	}
	return nil
}
