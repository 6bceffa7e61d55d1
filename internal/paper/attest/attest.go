package attest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/system/signature"
)

// Format is the version of the document.
const Format = "redsi-attestation/1"

const idLength = 32 // how many hex digits of a document's digest name it

// Attestation is the outcome of rebuilding a step. If it is signed, the members signer and signature follow.
type Attestation struct {
	Format    string            `json:"format"`
	Key       artifacts.Digest  `json:"key"`
	Step      string            `json:"step,omitempty"` // its address then
	Stands    artifacts.Digest  `json:"stands"`         // artifacts.Result.OutputsDigest of the existing result
	Made      artifacts.Digest  `json:"made"`           // and of the rebuilt one
	Verdict   alike.Verdict     `json:"verdict"`
	Outputs   []alike.Found     `json:"outputs,omitempty"` // outputs that differ
	TookS     float64           `json:"took_s"`
	Machine   Machine           `json:"machine"`
	Libraries map[string]string `json:"libraries,omitempty"` // libtorch, redsi, go
	When      time.Time         `json:"when"`
	By        string            `json:"by,omitempty"` // a self-declared name; if signed, the key's name
}

// Read is an attestation as a store has it.
type Read struct {
	Attestation
	ID     string           `json:"id"`
	Signer signature.Public `json:"-"` // zero: not signed
}

// Worst returns the greatest difference; nil if there is none.
func (a Attestation) Worst() *alike.Difference {
	return alike.Comparison{Verdict: a.Verdict, Outputs: a.Outputs}.Worst()
}

// CheckBy checks a self-declared name.
func CheckBy(name string) error {
	if !utf8.ValidString(name) || strings.TrimSpace(name) == "" || len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("%.200q is not a valid name: want one line of at most 100 bytes", name)
	}
	return nil
}

// File stores an attestation, signed if there is a key, and returns its id.
func File(ctx context.Context, s artifacts.Store, a Attestation, key *signature.Private) (id string, err error) {
	a.Format = Format
	if key != nil {
		a.By = key.Public().Name
	}
	if err := a.check(); err != nil {
		return "", fmt.Errorf("attest %s: %w", a.Key, err)
	}
	doc, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	if key != nil {
		if doc, err = key.Sign(doc); err != nil {
			return "", fmt.Errorf("attest %s: %w", a.Key, err)
		}
	}
	id = idOf(doc)
	if err := s.Records.Create(ctx, name(a.Key, id), doc); err != nil && !errors.Is(err, artifacts.ErrExist) {
		return "", fmt.Errorf("attest %s: %w", a.Key, err)
	}
	return id, nil
}

func name(key artifacts.Digest, id string) string {
	return artifacts.AttestationsPrefix + key.Hex() + "/" + id
}

func idOf(doc []byte) string { return artifacts.Sum(bytes.TrimSpace(doc)).Hex()[:idLength] }

func (a *Attestation) check() error {
	m := a.Machine
	described := []string{m.OS, m.Arch, m.CPU, m.Instructions, m.Card}
	switch {
	case a.Format != Format:
		return fmt.Errorf("its format is %q, not %q", a.Format, Format)
	case a.Key.IsZero() || a.Stands.IsZero() || a.Made.IsZero():
		return errors.New("it lacks the key of its step, or the digest of outputs")
	case a.Verdict != alike.Same && a.Verdict != alike.Within && a.Verdict != alike.Differs:
		return fmt.Errorf("%.100q is not a verdict", a.Verdict)
	case slices.ContainsFunc(described, func(s string) bool { return len(s) > 300 }):
		return errors.New("its description of the machine is longer than 300 bytes")
	}
	if a.By != "" {
		return CheckBy(a.By)
	}
	return nil
}

const mostOf = 1000 // bounds the attestations of one key that are read

// Of reads the attestations of a key, oldest first; bad says why others are invalid, changed or of another key.
func Of(ctx context.Context, s artifacts.Store, key artifacts.Digest) (all []Read, bad []error, err error) {
	prefix := artifacts.AttestationsPrefix + key.Hex() + "/"
	n := 0
	for info, err := range s.Records.List(ctx, prefix) {
		if err != nil {
			return nil, nil, fmt.Errorf("read attestations: %w", err)
		}
		if n++; n > mostOf {
			bad = append(bad, fmt.Errorf("%s does not count: there are more than %d for one step", info.Name, mostOf))
			break
		}
		doc, err := s.Records.Get(ctx, info.Name)
		if errors.Is(err, artifacts.ErrNotExist) {
			continue // collected meanwhile
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", info.Name, err)
		}
		r, err := parse(doc)
		if err == nil && (r.Key != key || info.Name != name(r.Key, r.ID)) {
			err = errors.New("it does not match the key or the digest in its name")
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s does not count: %w", info.Name, err))
			continue
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Read) int { return a.When.Compare(b.When) })
	return all, bad, nil
}

func parse(doc []byte) (r Read, err error) {
	if err = json.Unmarshal(doc, &r.Attestation); err != nil {
		return r, err
	}
	if err = r.check(); err != nil {
		return r, err
	}
	if r.Signer, err = signature.Signer(doc); err != nil {
		return r, err
	}
	if !r.Signer.IsZero() && r.By != r.Signer.Name {
		return r, fmt.Errorf("it claims to be by %q but is signed by %s", r.By, r.Signer.Name)
	}
	r.ID = idOf(doc)
	return r, nil
}
