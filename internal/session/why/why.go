// Package why owns the decision why a step of a plan is a hit or must run, and why a step of an ended run ran. It must not know flags,
// or print.
package why

import (
	"context"
	"fmt"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/step"
)

type Step struct {
	Address string              `json:"address"`
	Outcome plan.Outcome        `json:"outcome"`
	Reason  string              `json:"reason,omitempty"`
	From    string              `json:"from,omitempty"` // the other store that has the result
	Fetch   *int64              `json:"fetch_bytes,omitempty"`
	Passed  []string            `json:"not_used,omitempty"` // existing results, and why they are not used
	Waits   []string            `json:"waits_for,omitempty"`
	Lacks   []string            `json:"lacks,omitempty"`         // the steps without a result that it, or what it reads, gathers
	Against string              `json:"compared_with,omitempty"` // the run whose result the changes are since
	Changes []Change            `json:"changes,omitempty"`
	Counted []string            `json:"libraries,omitempty"`  // the libraries of its interpreters, as in the key
	Unkeyed []string            `json:"not_in_key,omitempty"` // packages of which the key has nothing
	Origin  string              `json:"origin,omitempty"`
	Made    *Made               `json:"made,omitempty"` // of a hit
	Failed  *journal.Failed     `json:"failed_before,omitempty"`
	Resumes *journal.Checkpoint `json:"resumes,omitempty"` // what it continues from
}

// Change is a change with the place in the HCL that made it.
type Change struct {
	step.Change
	Where string `json:"where,omitempty"`
}

type Made struct {
	Key      artifacts.Digest `json:"key"`
	Run      string           `json:"run"`
	As       string           `json:"as,omitempty"` // the step's address then, if it was another
	Finished time.Time        `json:"finished"`
	TookS    float64          `json:"took_s"`
	Revision string           `json:"revision,omitempty"` // of redsi
	Inputs   []Input          `json:"inputs,omitempty"`
	Rebuilt  *attest.Told     `json:"rebuilt,omitempty"` // who rebuilt it

	Accepted *artifacts.Acceptance `json:"accepted,omitempty"` // why it is valid for this key
}

type Input struct {
	Path   string           `json:"path"` // attribute that reads it
	Step   string           `json:"step"` // that has these bytes now
	Output string           `json:"output"`
	Digest artifacts.Digest `json:"digest"`
}

// OfTarget answers for the steps of a target, as the next run would find them in the store.
func OfTarget(ctx context.Context, se *session.Session, target string) ([]Step, *artifacts.Resolver, error) {
	se.Targets = []string{target}
	v, err := se.Preview(ctx, session.Named(target))
	if err != nil {
		return nil, v.Store, err
	}
	f := facts{Session: se, v: v.Preview, own: v.Store.Alone()}
	if f.past, err = se.Journal(ctx, v.Store.Own, v.Preview); err != nil {
		return nil, v.Store, err
	}
	if f.others, err = se.OthersOf(ctx, v.Store, v.Preview); err != nil {
		return nil, v.Store, err
	}
	if f.book, err = se.Book(ctx, v.Store.Own); err != nil {
		return nil, v.Store, err
	}
	var answers []Step
	for i, s := range v.Plan.Steps {
		if !plan.Matches(target, s.Address) {
			continue
		}
		w, err := f.step(ctx, i)
		if err != nil {
			return nil, v.Store, err
		}
		answers = append(answers, w)
	}
	for _, s := range v.Plan.Skipped {
		answers = append(answers, Step{Address: s.Address, Outcome: "skipped", Reason: s.Reason()})
	}
	return answers, v.Store, nil
}

type facts struct {
	*session.Session
	v      *plan.Preview
	past   *journal.Journal
	others *belief.Others
	book   *attest.Book
	own    *artifacts.Resolver
}

func (f *facts) step(ctx context.Context, i int) (Step, error) {
	s, it := f.v.Plan.Steps[i], f.v.Items[i]
	w := Step{Address: s.Address, Outcome: it.Outcome, Origin: it.Run, From: it.From, Counted: f.Counted([]plan.Step{s}), Unkeyed: f.Unkeyed([]plan.Step{s})}
	if size, ok := f.others.Fetch[i]; ok && w.From != "" {
		w.Fetch = &size
	}
	for _, p := range f.Belief.Passed[it.Key] {
		w.Passed = append(w.Passed, p.String())
		if do := f.Belief.WhatToDo(p); do != "" {
			w.Passed = append(w.Passed, "-> "+do)
		}
	}
	w.Waits, w.Lacks = f.v.Plan.Addresses(it.Snags().Waits), f.v.Plan.Addresses(f.v.LacksOf(i))
	var err error
	switch it.Outcome {
	case plan.Run:
		err = f.run(ctx, i, &w)
	case plan.Hit:
		if w.Made, err = madeOf(s, it); err != nil {
			return w, fmt.Errorf("%s: %w", s.Address, err)
		}
		w.Made.Rebuilt, err = f.book.Of(ctx, it.Key, it.Result.OutputsDigest())
	}
	return w, err
}

// run says why a step must run: what changed since its newest result, and where that is written.
func (f *facts) run(ctx context.Context, i int, w *Step) error {
	s := f.v.Plan.Steps[i]
	changes, note, err := f.past.Changes(ctx, f.own, f.v, i, f.Differ(ctx, f.own))
	if err != nil {
		return err
	}
	w.Reason, w.Against = note, f.past.Last[s.Address].Run
	if failed, ok := f.past.Failed[i]; ok {
		w.Failed = &failed
	}
	if c, ok := f.past.Saved[i]; ok {
		w.Resumes = &c
	}
	for _, c := range changes {
		wc := Change{Change: c}
		if p, ok := s.AttrPos[c.Attribute()]; ok {
			wc.Where = p.String()
		}
		w.Changes = append(w.Changes, wc)
	}
	return nil
}

func madeOf(s plan.Step, it plan.Item) (*Made, error) {
	r := it.Result
	m := &Made{Key: it.Key, Run: r.Origin.RunID, Finished: r.Finished, TookS: r.Took.Seconds(), Revision: r.Env["revision"], Accepted: it.Accepted}
	if r.Origin.Step != s.Address {
		m.As = r.Origin.Step
	}
	bound := map[string]artifacts.Digest{}
	err := plan.InputsOf(it.Task(), func(path string, in step.Input) {
		if in.Artifact != nil {
			bound[path] = in.Artifact.Digest
		}
	})
	if err != nil {
		return nil, err
	}
	return m, plan.InputsOf(s.Task, func(path string, in step.Input) {
		if in.Ref != nil {
			m.Inputs = append(m.Inputs, Input{path, in.Ref.Step, in.Ref.OutputName(), bound[path]})
		}
	})
}

// Past is the answer to why for one step of a run that has ended.
type Past struct {
	Address string      `json:"address"`
	Run     string      `json:"run"`
	Outcome runs.Status `json:"outcome"`
	Reason  string      `json:"reason,omitempty"`
	Against string      `json:"compared_with,omitempty"` // the last run before it with a result
	Changes []Change    `json:"changes,omitempty"`
	Made    *Made       `json:"made,omitempty"` // of a hit
}

// Ran says of each wanted step of an ended run, by a store's results, why it ran there or did not.
func Ran(ctx context.Context, store *artifacts.Resolver, rec *runs.Record, differ journal.Differ, wanted func(address string) bool) ([]Past, error) {
	var answers []Past
	ran := map[string]bool{} // of the wanted steps: whether it ran or failed
	for _, s := range rec.Steps {
		if wanted(s.Address) {
			answers = append(answers, Past{Address: s.Address, Run: rec.RunID, Outcome: s.Outcome, Reason: s.Error})
			ran[s.Address] = s.Outcome == runs.Ran || s.Outcome == runs.Failed
		}
	}
	if len(answers) == 0 {
		return nil, nil
	}
	before, err := journal.Before(ctx, store.Own, rec, ran)
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

func (w *Past) explain(differ journal.Differ, key artifacts.Digest, before journal.Earlier, entries map[artifacts.Digest]artifacts.Entry) error {
	is := entries[key].Result
	switch {
	case w.Outcome == runs.Hit && is != nil:
		w.Made = &Made{Key: key, Run: is.Origin.RunID, Finished: is.Finished, TookS: is.Took.Seconds(), Revision: is.Env["revision"]}
		return nil
	case w.Outcome == runs.Hit:
		w.Reason = "it had a result, which is no longer in the store"
		return nil
	case w.Outcome != runs.Ran && w.Outcome != runs.Failed:
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
	case key.IsZero(): // unknown in that run
	case before.Key == key:
		add("nothing had changed since run " + before.Run + ": its result was no longer complete in the store (forgotten, collected or lost)")
	case is == nil && w.Outcome == runs.Failed:
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
