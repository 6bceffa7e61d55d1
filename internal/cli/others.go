package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/open"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/internal/system/signature"
)

// othersOptions name other stores and trusted keys, in addition to the pipeline and the
// settings.
type othersOptions struct {
	from      []string
	require   bool
	trust     []string
	untrusted string

	opened  []artifacts.Other // once the store is opened
	fetched fetched
}

// fromFlags are the flags about other stores.
var fromFlags = []string{"from", "require-from", "trust", "untrusted"}

// fromFlags adds them to a verb that reads results.
func (a *app) fromFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.others.from, "from", nil, "also look for results in this store, read-only: https://HOST/PATH, s3://BUCKET/PREFIX or a folder; may be repeated")
	f.BoolVar(&a.others.require, "require-from", false, "fail if one of those stores does not answer")
	f.StringArrayVar(&a.others.trust, "trust", nil, "trust results signed by this public `KEY`, NAME:BASE64; may be repeated")
	f.StringVar(&a.others.untrusted, "untrusted", "", "results in other stores that no trusted key signed: run (run the step here), verify (run it and compare) or use (default run)")
}

// addresses are those of other stores, in the order in which they are asked: from the command
// line, the environment, the settings, the pipeline.
func (a *app) addresses() (from []string) {
	local := make([]string, len(a.local.From))
	for i, address := range a.local.From {
		local[i] = a.local.beside(address)
	}
	for _, address := range slices.Concat(a.others.from, strings.Fields(os.Getenv("REDSI_FROM")), local, a.whose.From) {
		if !slices.Contains(from, address) {
			from = append(from, address)
		}
	}
	return from
}

// policy says which results are trusted. The user's own key signs what steps make, and is
// trusted.
func (a *app) policy() (p artifacts.Policy, err error) {
	if p.Signer, err = a.signer(); err != nil {
		return p, err
	}
	if p.Ring, err = a.ring(); err != nil {
		return p, err
	}
	if p.Signer != nil && p.Ring.Of(p.Signer.Public()) == signature.Unknown {
		p.Ring.Trusted = append(p.Ring.Trusted, p.Signer.Public())
	}
	untrusted := a.whose.Untrusted
	for _, stronger := range []string{a.local.Untrusted, a.others.untrusted} {
		if stronger != "" {
			untrusted = stronger
		}
	}
	if untrusted != "" && !slices.Contains(pipeline.Beliefs, untrusted) {
		return p, fault.Input(fmt.Errorf("--untrusted %s: want run, verify or use", untrusted))
	}
	p.Foreign, p.Own = artifacts.Untrusted(untrusted), artifacts.Untrusted(a.whose.Shared)
	return p, nil
}

// mayRecord reports why results made here would not be trusted. Verbs that only read need no
// key.
func (a *app) mayRecord() error {
	p, err := a.policy()
	if err != nil {
		return err
	}
	if err := p.Validate(); err != nil {
		return fault.Input(err)
	}
	return nil
}

// ring has the keys that the pipeline and the command line name.
func (a *app) ring() (signature.Ring, error) {
	named, err := parseTrust(a.others.trust)
	return signature.Ring{Trusted: slices.Concat(a.whose.Trust, named), Revoked: a.whose.Revoked}, err
}

// parseTrust reads the keys of --trust.
func parseTrust(texts []string) (keys []signature.Public, err error) {
	for _, text := range texts {
		k, err := signature.ParsePublic(text)
		if err != nil {
			return nil, fault.Input(fmt.Errorf("--trust: %w", err))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// withOthers is a store with other stores behind it.
func (a *app) withOthers(ctx context.Context, own artifacts.Store) (artifacts.Store, error) {
	p, err := a.policy()
	if err != nil {
		return own, err
	}
	a.others.opened = nil
	for _, address := range a.addresses() {
		o, err := open.Other(ctx, address, open.Options{})
		if err != nil {
			return own, fault.Input(fmt.Errorf("--from %s: %w", open.Shown(address), err))
		}
		if o.Store.URL != own.URL { // the pipeline may name this very store
			o.Store.Blobs = countedBlobs{o.Store.Blobs, o.Name, &a.others.fetched}
			a.others.opened = append(a.others.opened, o)
		}
	}
	p.Elsewhere = a.elsewhere
	return artifacts.With(own, a.others.opened, p), nil
}

// places names where results are looked up, for messages about waiting.
func (a *app) places() string {
	names := []string{"the store"}
	for _, o := range a.others.opened {
		names = append(names, o.Name)
	}
	return strings.Join(names, ", then ")
}

// following is a store that fetches blobs from the addresses in its records. Looking up what
// it has costs no more.
func (a *app) following(s artifacts.Store) artifacts.Store {
	return artifacts.With(s, nil, artifacts.Policy{Elsewhere: a.elsewhere})
}

// elsewhere is open.Elsewhere, counted for the store that has the blob's address.
func (a *app) elsewhere(ctx context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
	r, err := open.Elsewhere(ctx, e)
	if err != nil {
		return nil, err
	}
	name := e.URL
	for _, o := range a.others.opened {
		if o.Store.URL == e.From {
			name = o.Name
		}
	}
	return countedReader{r, countedBlobs{name: name, to: &a.others.fetched}}, nil
}

// sayDown warns of other stores that do not answer, with the consequence, or fails if each is
// needed.
func (a *app) sayDown(store artifacts.Store, follows string) error {
	var down []string
	for _, o := range store.Others() {
		if o.Err == nil {
			continue
		}
		down = append(down, o.Name)
		if !a.requiresFrom() {
			a.Log.Warn(o.Name+" does not answer: "+follows, "err", o.Err)
		} else {
			a.Log.Error(o.Name+" does not answer", "err", o.Err)
		}
	}
	if len(down) > 0 && a.requiresFrom() {
		return fault.Failed(fmt.Errorf("%s given with --from %s not answer, and --require-from needs all of them: %s", view.Count(len(down), "store"), does(len(down)), strings.Join(down, ", ")))
	}
	return nil
}

// sayOthers says at the start of a run which results in other stores are not used, and which
// stores do not answer.
func (a *app) sayOthers(ctx context.Context, store artifacts.Store, v *plan.Preview) error {
	if len(a.others.opened) == 0 && len(a.belief.passed) == 0 {
		return nil
	}
	view.PrintPassed(a.Err, a.belief.summary())
	for _, o := range a.others.opened {
		if n := a.belief.unsigned[o.Name]; n > 0 {
			a.say(fmt.Sprintf("%s in %s not signed by a key that this project trusts: untrusted = \"use\" accepts them", view.Count(n, "hit"), o.Name))
		}
	}
	if !isDown(store) || v.Done() {
		return a.sayDown(store, mayHave(v, nil))
	}
	past, err := a.journalOf(ctx, store.Own(), v)
	if err != nil {
		return err
	}
	e, err := a.estimateOf(ctx, store.Own(), v, past)
	if err != nil {
		return err
	}
	return a.sayDown(store, mayHave(v, e))
}

// mayHave says which results of a preview an unreachable store may have; e may be nil.
func mayHave(v *plan.Preview, e *estimate.Estimate) string {
	if v.Done() {
		return "this plan does not need it"
	}
	text := "it may have results for the " + view.Count(len(v.Items)-v.Summary().Hit, "step") + " that would run here"
	if e != nil && e.Steps > e.Unknown {
		text += fmt.Sprintf(", %s of work going by the history of %d", view.Seconds(e.WorkP50), e.Steps-e.Unknown)
	}
	return text + "; --require-from makes this an error"
}

func does(n int) string {
	if n == 1 {
		return "does"
	}
	return "do"
}

func (a *app) requiresFrom() bool { return a.others.require || a.local.RequireFrom }
