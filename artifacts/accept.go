package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Accept files a result of another key under the one that the acceptance names: first what
// was declared, then the result. What has a usable result already stays as it is, and is
// an error.
func Accept(ctx context.Context, w *Resolver, of *Result, preimage []byte, a *Acceptance) error {
	r := *of
	r.Key, r.Preimage = a.Key, preimage
	r.Origin.Accepted = a.text
	r.Origin.Step = a.Step
	r.body = Digest{}
	if _, err := r.Acceptance(); err != nil {
		return fmt.Errorf("accept %s: %w", a.Of, err)
	}
	own := w.Own.Records
	if err := own.Put(ctx, a.name(), []byte(a.text)); err != nil {
		return fmt.Errorf("accept %s: %w", a.Of, err)
	}
	won, _, err := Publish(ctx, w.Alone(), r)
	if err == nil && won.Origin.Accepted != a.text {
		err = errors.New("the key has a result by now")
	}
	if err != nil {
		return fmt.Errorf("accept %s: %w", a.Of, err)
	}
	return own.Put(ctx, acceptedPin(a.Key), fmt.Appendf(nil, `{"accepted":%q}`, a.Key)) // no run names it yet
}

// acceptedPin keeps an accepted result, which no run names before the next.
func acceptedPin(key Digest) string { return PinsPrefix + "accepted-" + key.Hex() }

// Withdraw ends an acceptance: what stands by it is deleted, and that it was is recorded.
func Withdraw(ctx context.Context, s Store, a *Acceptance, by string, when time.Time) error {
	err := PutJSON(ctx, s.Records, a.name()+withdrawnSuffix, Withdrawal{withdrawnFormat, a.Key, a.ID(), by, when})
	if err == nil {
		err = DropResult(ctx, s, a.Key)
	}
	if err == nil {
		err = s.Records.Delete(ctx, acceptedPin(a.Key))
	}
	if err != nil {
		return fmt.Errorf("withdraw the acceptance of %s: %w", a.Of, err)
	}
	return nil
}

// AcceptedNow is an acceptance with what has become of it.
type AcceptedNow struct {
	*Acceptance
	Ended *Withdrawal `json:"withdrawn,omitempty"` // nil if it stands
}

// Acceptances reads what was accepted in s, oldest first. Records that are not
// acceptances are passed over.
func Acceptances(ctx context.Context, s Store) ([]AcceptedNow, error) {
	found := map[string]*AcceptedNow{}
	ended := map[string]*Withdrawal{}
	for doc, err := range DocumentsIn(ctx, s.Records, acceptedPrefix) {
		if err != nil {
			return nil, err
		}
		if name, is := strings.CutSuffix(doc.Name, withdrawnSuffix); is {
			var w Withdrawal
			if json.Unmarshal(doc.Text, &w) == nil && w.Format == withdrawnFormat {
				ended[name] = &w
			}
			continue
		}
		if a, err := parseAcceptance(string(doc.Text)); err == nil && a.name() == doc.Name {
			found[doc.Name] = &AcceptedNow{Acceptance: a}
		}
	}
	var all []AcceptedNow
	for name, a := range found {
		a.Ended = ended[name]
		all = append(all, *a)
	}
	slices.SortFunc(all, func(x, y AcceptedNow) int {
		return cmp.Or(x.When.Compare(y.When), strings.Compare(x.name(), y.name()))
	})
	return all, nil
}
