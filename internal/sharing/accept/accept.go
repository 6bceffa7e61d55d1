// Package accept owns declaring that a step's earlier result is still valid, and taking that back.
// It must not know flags, or how a person is asked.
package accept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/step"
)

// Step is a step that must run, with the earlier result that may stand in for it.
type Step struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key"`
	Of      artifacts.Digest `json:"of"`
	Changes []step.Change    `json:"changes"`
	ID      string           `json:"id,omitempty"` // of its acceptance

	preimage []byte
	result   *artifacts.Result
}

// Options say which result is accepted, and what is recorded with it.
type Options struct {
	Reason string
	Of     string // the result to accept: its key, or a run that had it; "": the newest
	By     string // who; "": the name of the key
	// Confirm is asked before results are accepted.
	Confirm func(todo []Step) error
}

type accepter struct {
	*session.Session
	Options
	key    *signature.Private // signs acceptances; nil: none does
	store  *artifacts.Resolver
	plan   *plan.Plan
	target string
}

// Results accepts earlier results of the steps of a target that must run, and says why it left others out. It repeats
// until no step must run: an acceptance determines the keys of the steps after it.
func Results(ctx context.Context, se *session.Session, target string, o Options) (done []Step, left []string, err error) {
	ac := &accepter{Session: se, Options: o, target: target}
	if ac.By, ac.key, err = Who(se, o.By); err != nil {
		return nil, nil, err
	}
	se.Targets = []string{target}
	if ac.plan, _, err = se.LoadPlan(ctx); err == nil {
		err = se.MayRecord()
	}
	if err != nil {
		return nil, nil, err
	}
	if ac.store, err = se.OpenStore(ctx); err != nil {
		return nil, nil, err
	}
	done = []Step{}
	for round := 0; ; round++ {
		todo, left, err := ac.acceptables(ctx)
		if err != nil {
			return nil, nil, err
		}
		if len(todo) == 0 {
			if round == 0 {
				return nil, nil, fault.Input(fmt.Errorf("nothing to accept for %s: %s", target, strings.Join(left, "; ")))
			}
			return done, slices.DeleteFunc(append([]string{}, left...), func(s string) bool { return strings.HasSuffix(s, isHit) }), nil
		}
		if err := o.Confirm(todo); err != nil {
			return nil, nil, err
		}
		for _, x := range todo {
			if x.ID, err = ac.accept(ctx, x); err != nil {
				return nil, nil, err
			}
			done = append(done, x)
		}
	}
}

const isHit = " is a HIT" // ends the sentence about a step that needs no acceptance

func (ac *accepter) accept(ctx context.Context, x Step) (string, error) {
	decl := artifacts.Acceptance{Key: x.Key, Of: x.Of, Step: x.Address, Outputs: x.result.OutputsDigest(), Reason: ac.Reason, By: ac.By, When: time.Now().UTC(),
		Changes: []artifacts.AcceptedChange{}}
	for _, c := range x.Changes[:min(len(x.Changes), changesKept)] {
		decl.Changes = append(decl.Changes, artifacts.AcceptedChange{Path: c.Path, Old: bounded(c.Old), New: bounded(c.New)})
	}
	acc, err := artifacts.NewAcceptance(decl, ac.key)
	if err != nil {
		return "", fault.Input(err)
	}
	if err := artifacts.Accept(ctx, ac.store, x.result, x.preimage, acc); err != nil {
		return "", fmt.Errorf("%s: %w", x.Address, err)
	}
	return acc.ID(), nil
}

// Revoke revokes the acceptances of a target, so that its steps are no longer hits, and returns their addresses.
func Revoke(ctx context.Context, se *session.Session, target, by string) ([]string, error) {
	by, _, err := Who(se, by)
	if err != nil {
		return nil, err
	}
	se.Targets = []string{target}
	v, err := se.Preview(ctx, nil)
	if err != nil {
		return nil, err
	}
	revoked := []string{}
	for i, s := range v.Plan.Steps {
		x := v.Items[i].Accepted
		if x == nil || !plan.Matches(target, s.Address) {
			continue
		}
		if err := artifacts.Withdraw(ctx, v.Store.Own, x, by, time.Now().UTC()); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		revoked = append(revoked, s.Address)
	}
	return revoked, nil
}

// Who returns the name under which something is declared, and the key that signs it.
func Who(se *session.Session, by string) (string, *signature.Private, error) {
	k, err := se.Signer()
	if err != nil {
		return "", nil, err
	}
	if k != nil {
		by = cmp.Or(by, k.Public().Name)
	}
	if by == "" {
		return "", nil, fault.Input(errors.New("you have no signing key: say who accepts it with --by NAME"))
	}
	return by, k, nil
}

// Bounds of the changes that an acceptance keeps; the preimages have all of them.
const (
	changesKept = 100
	valueKept   = 1000
)

func bounded(text string) string {
	if len(text) > valueKept {
		text = strings.ToValidUTF8(text[:valueKept], "") + "…"
	}
	return text
}
