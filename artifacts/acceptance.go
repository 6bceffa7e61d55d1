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

	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/values"
)

// Formats of the records about the acceptance of one result for another.
const (
	acceptedFormat  = "redsi-accepted/1"
	withdrawnFormat = "redsi-accepted-withdrawn/1"
)

// Bounds of the texts of an acceptance, in bytes.
const (
	maxReason   = 2000
	maxAccepted = MaxRecord / 4
)

// Acceptance is a person's declaration that a result of one key stands for another key, too, since
// the differences between the two keys do not change the outputs. The result that is filed under the
// new key has the acceptance's text in its origin.
type Acceptance struct {
	Format  string           `json:"format"`
	Key     Digest           `json:"key"` // that has the result from now on
	Of      Digest           `json:"of"`  // that the result was computed under
	Step    string           `json:"step"`
	Outputs Digest           `json:"outputs"` // Result.OutputsDigest
	Changes []AcceptedChange `json:"changes"` // from the preimage of Of to the preimage of Key
	Reason  string           `json:"reason"`
	By      string           `json:"by"` // for people; the signature says who it was
	When    time.Time        `json:"when"`
	signer  signature.Public // whose key signed it; zero if nobody's did
	text    string           // as it was signed
}

// AcceptedChange is a difference between the two preimages, as the person was shown it.
type AcceptedChange struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// Withdrawal is the record that ends an acceptance.
type Withdrawal struct {
	Format   string    `json:"format"`
	Key      Digest    `json:"key"`
	Accepted string    `json:"accepted"` // its id
	By       string    `json:"by"`
	When     time.Time `json:"when"`
}

// parseAcceptance reads the text of an acceptance. A text that was changed after it was signed is an
// error.
func parseAcceptance(text string) (*Acceptance, error) {
	a := &Acceptance{text: text}
	if len(text) > maxAccepted {
		return nil, fmt.Errorf("an acceptance has %d bytes, too many", len(text))
	}
	if err := values.Written([]byte(text), a); err != nil {
		return nil, fmt.Errorf("an acceptance is not JSON: %w", err)
	}
	if a.Format != acceptedFormat {
		return nil, fmt.Errorf("an acceptance has the format %q, this redsi reads %q", a.Format, acceptedFormat)
	}
	var err error
	if a.signer, err = signature.Signer([]byte(text)); err != nil {
		return nil, fmt.Errorf("an acceptance: %w", err)
	}
	return a, nil
}

// NewAcceptance completes an acceptance and signs it by the given key, which may be nil.
func NewAcceptance(a Acceptance, by *signature.Private) (*Acceptance, error) {
	a.Format = acceptedFormat
	switch {
	case strings.TrimSpace(a.Reason) == "":
		return nil, errors.New("an acceptance needs a reason")
	case len(a.Reason) > maxReason:
		return nil, fmt.Errorf("the reason of an acceptance has %d bytes, more than %d", len(a.Reason), maxReason)
	case a.By == "":
		return nil, errors.New("an acceptance needs a name: who accepts it")
	}
	b, err := json.Marshal(a)
	if err == nil && by != nil {
		b, err = by.Sign(b)
	}
	if err != nil {
		return nil, err
	}
	return parseAcceptance(string(b))
}

// ID names an acceptance among the acceptances of its key.
func (a *Acceptance) ID() string { return Sum([]byte(a.text)).Hex()[:16] }

// Sentence says in a line who accepted the result and why.
func (a *Acceptance) Sentence() string {
	who := a.By
	if !a.signer.IsZero() && a.signer.Name != a.By {
		who += " (key " + a.signer.Name + ")"
	} else if a.signer.IsZero() {
		who += " (not signed)"
	}
	return "accepted by " + who + ": " + a.Reason
}

func (a *Acceptance) name() string { return acceptedPrefix + a.Key.Hex() + "/" + a.ID() }

// Acceptance returns the acceptance by which r stands for its key; nil if r was computed under that
// key. An acceptance of another key, or of other outputs, is an error.
func (r *Result) Acceptance() (*Acceptance, error) {
	if r.Origin.Accepted == "" {
		return nil, nil
	}
	a, err := parseAcceptance(r.Origin.Accepted)
	switch {
	case err != nil:
		return nil, err
	case a.Key != r.Key:
		return nil, fmt.Errorf("it was accepted for the key %s", a.Key)
	case a.Outputs != r.OutputsDigest():
		return nil, errors.New("the acceptance is for other outputs than these")
	}
	return a, nil
}

// Accept files a result of another key under the key that the acceptance names: first the
// acceptance, then the result. A key that has a usable result keeps it, and is an error.
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

// acceptedPin names the pin that keeps an accepted result, which no run names before the next one.
func acceptedPin(key Digest) string { return PinsPrefix + "accepted-" + key.Hex() }

// Withdraw ends an acceptance: it records the withdrawal and deletes the result that stood by it.
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

// AcceptedNow is an acceptance and its end, if it was withdrawn.
type AcceptedNow struct {
	*Acceptance
	Ended *Withdrawal `json:"withdrawn,omitempty"` // nil if it stands
}

// Acceptances reads the acceptances of s, oldest first. Records that cannot be read as such are
// passed over.
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
