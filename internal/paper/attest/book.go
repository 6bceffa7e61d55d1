package attest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/system/signature"
)

// Book is the attestations of a store. One listing tells which steps have some.
type Book struct {
	store artifacts.Store
	ring  signature.Ring
	keys  map[artifacts.Digest]bool
}

// Open lists which results of a store were rebuilt. Signatures by the ring's revoked keys do not count.
func Open(ctx context.Context, s artifacts.Store, ring signature.Ring) (*Book, error) {
	b := &Book{s, ring, map[artifacts.Digest]bool{}}
	for info, err := range s.Records.List(ctx, artifacts.AttestationsPrefix) {
		if err != nil {
			return nil, fmt.Errorf("list attestations: %w", err)
		}
		hex, _, _ := strings.Cut(strings.TrimPrefix(info.Name, artifacts.AttestationsPrefix), "/")
		if key, err := artifacts.ParseHex(hex); err == nil {
			b.keys[key] = true
		}
	}
	return b, nil
}

// Has reports whether a key has attestations. A nil Book has none.
func (b *Book) Has(key artifacts.Digest) bool { return b != nil && b.keys[key] }

// Told is the attestations of one result.
type Told struct {
	Summary
	List    []Shown `json:"attestations,omitempty"` // newest first, about the existing outputs
	Damaged int     `json:"damaged,omitempty"`      // not counted
}

// Shown is an attestation for people.
type Shown struct {
	ID      string            `json:"id"`
	Verdict alike.Verdict     `json:"verdict"`
	By      string            `json:"by,omitempty"`
	Signer  string            `json:"signer,omitempty"` // public key; "": not signed
	When    string            `json:"when"`
	Machine string            `json:"machine"`
	Worst   *alike.Difference `json:"worst,omitempty"`
}

const mostShown = 20 // bounds the attestations of one result that are shown; all are counted

// Of returns the attestations of a result whose outputs have the digest stands; nil if there are none.
func (b *Book) Of(ctx context.Context, key, stands artifacts.Digest) (*Told, error) {
	if !b.Has(key) {
		return nil, nil
	}
	all, bad, err := Of(ctx, b.store, key)
	if err != nil {
		return nil, err
	}
	t := &Told{Summary: Count(all, stands, b.ring), Damaged: len(bad)}
	for _, a := range slices.Backward(all) {
		if len(t.List) == mostShown || a.Stands != stands || b.ring.Of(a.Signer) == signature.Revoked {
			continue
		}
		s := Shown{ID: a.ID, Verdict: a.Verdict, By: a.By, When: a.When.UTC().Format("2006-01-02"), Machine: a.Machine.String(), Worst: a.Worst()}
		if !a.Signer.IsZero() {
			s.Signer = a.Signer.String()
		}
		t.List = append(t.List, s)
	}
	if !t.Any() && t.Damaged == 0 {
		return nil, nil
	}
	return t, nil
}

// String returns the summary, and how many attestations do not count.
func (t *Told) String() string {
	s := t.Summary.String()
	if t.Damaged > 0 {
		s = strings.TrimPrefix(fmt.Sprintf("%s; %d damaged, not counted", s, t.Damaged), "; ")
	}
	return s
}

// Total counts the attestations of many results.
type Total struct {
	Steps   int // rebuilt
	Summary     // without Trusted, Revoked and Others, which are of one result
}

// Add adds the attestations of one result, if it has any.
func (t *Total) Add(of *Told) {
	if of == nil || of.Signed.All()+of.Unsigned.All() == 0 {
		return
	}
	if t.people == nil {
		t.people, t.platforms = map[string]bool{}, map[string]bool{}
	}
	t.Steps++
	t.Signed, t.Unsigned = t.Signed.Sum(of.Signed), t.Unsigned.Sum(of.Unsigned)
	maps.Copy(t.people, of.people)
	maps.Copy(t.platforms, of.platforms)
	t.People, t.Platforms = len(t.people), len(t.platforms)
}
