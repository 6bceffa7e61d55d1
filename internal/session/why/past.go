package why

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/workflows"
)

// Past is the answer to why for one step of a run that has ended.
type Past struct {
	Address string           `json:"address"`
	Run     string           `json:"run"`
	Outcome workflows.Status `json:"outcome"`
	Reason  string           `json:"reason,omitempty"`
	Against string           `json:"compared_with,omitempty"` // the last run before it with a result
	Changes []Change         `json:"changes,omitempty"`
	Made    *Made            `json:"made,omitempty"` // of a hit
}

// Ran says of each wanted step of a run that has ended why it ran there, or did not, from the
// results in a store.
func Ran(ctx context.Context, store artifacts.Store, rec *workflows.RunRecord, differ journal.Differ, wanted func(address string) bool) ([]Past, error) {
	var answers []Past
	ran := map[string]bool{} // of the wanted steps: those that ran or failed
	for _, s := range rec.Steps {
		if wanted(s.Address) {
			answers = append(answers, Past{Address: s.Address, Run: rec.RunID, Outcome: s.Outcome, Reason: s.Error})
			ran[s.Address] = s.Outcome == workflows.Ran || s.Outcome == workflows.Failed
		}
	}
	if len(answers) == 0 {
		return nil, nil
	}
	before, err := journal.Before(ctx, store, rec, ran)
	if err != nil {
		return nil, err
	}
	keys := map[string]artifacts.Digest{}
	var all []artifacts.Digest
	for _, s := range rec.Steps {
		if _, ok := ran[s.Address]; ok && !s.Key.IsZero() {
			keys[s.Address] = s.Key
			all = append(all, s.Key, before[s.Address].Key)
		}
	}
	entries, err := artifacts.Inspect(ctx, store, all)
	if err != nil {
		return nil, err
	}
	for i := range answers {
		w := &answers[i]
		if err := w.explain(differ, keys[w.Address], before[w.Address], entries); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Address, err)
		}
	}
	return answers, nil
}

// explain says why a step ran, from the results in the store.
func (w *Past) explain(differ journal.Differ, key artifacts.Digest, before journal.Earlier, entries map[artifacts.Digest]artifacts.Entry) error {
	is := entries[key].Result
	switch {
	case w.Outcome == workflows.Hit && is != nil:
		w.Made = &Made{Key: key, Run: is.Origin.RunID, Finished: is.Finished, TookS: is.Took.Seconds(), Revision: is.Env["revision"]}
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
			w.Changes = append(w.Changes, Change{Change: c})
		}
		return err
	}
	return nil
}
