// Package belief owns what a preview finds out about results that the own store or others have: which are not used and why, which are
// used although no trusted key signed them, and what would be fetched. It must not know how stores are named or opened, or how any of
// it is printed.
package belief

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
)

// Belief is what a preview found out about results that are not used, and results in use that no trusted key signed.
type Belief struct {
	Passed   map[artifacts.Digest][]artifacts.Passed // of keys without a result
	Unsigned map[string]int                          // results in use, by store
	compares bool                                    // with the results of steps that run here
}

func New(p artifacts.Policy) *Belief {
	return &Belief{Passed: map[artifacts.Digest][]artifacts.Passed{}, Unsigned: map[string]int{}, compares: p.Foreign == artifacts.VerifyUntrusted}
}

// Lookup is artifacts.LookupKnown that records what it passes over.
func (b *Belief) Lookup(ctx context.Context, store *artifacts.Resolver, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
	entries, err := artifacts.Inspect(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	hits := make(map[artifacts.Digest]*artifacts.Result, len(entries))
	for key, e := range entries {
		switch {
		case e.Known() == nil:
			if len(e.Passed) > 0 {
				b.Passed[key] = e.Passed
			}
			continue
		case e.Result.From != "" && e.Result.Signer == "":
			b.Unsigned[e.Result.From]++
		}
		hits[key] = e.Result
	}
	return hits, nil
}

// Explain adds, to the reasons why steps must run, results of them that are not used.
func (b *Belief) Explain(v *plan.Preview, why map[int]string) {
	for i, it := range v.Items {
		if it.Outcome != plan.Run {
			continue
		}
		if words := lists.Map(b.Passed[it.Key], artifacts.Passed.String); len(words) > 0 {
			why[i] = strings.Join(append(words, why[i]), "; ")
		}
	}
}

// Summary counts what was passed over, by store, signer and reason, with what to do about it.
func (b *Belief) Summary() (out []Passed) {
	if b == nil {
		return nil
	}
	counted := map[Passed]*Passed{} // by store, reason and signer
	for _, key := range slices.SortedFunc(maps.Keys(b.Passed), artifacts.Digest.Compare) {
		for _, p := range b.Passed[key] {
			if p.Reason == artifacts.NoAnswer { // reported as a store that is down
				continue
			}
			k := Passed{From: p.From, Reason: string(p.Reason)}
			if !p.Signer.IsZero() {
				k.Signer = p.Signer.String()
			}
			if counted[k] == nil {
				counted[k] = &Passed{From: k.From, Reason: k.Reason, Signer: k.Signer, Text: p.String(), Do: b.WhatToDo(p)}
			}
			counted[k].Steps++
		}
	}
	all := slices.SortedFunc(maps.Values(counted), func(x, y *Passed) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(y.Steps, x.Steps), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Signer, y.Signer))
	})
	return lists.Map(all, func(x *Passed) Passed { return *x })
}

// WhatToDo says how a result that is passed over could be used; "" if there is no way.
func (b *Belief) WhatToDo(p artifacts.Passed) string {
	if b.compares && p.From != "" && (p.Reason == artifacts.Unsigned || p.Reason == artifacts.UnknownKey) {
		return "the step runs here, and the run compares the results at its end"
	}
	switch p.Reason {
	case artifacts.Unsigned:
		if p.From != "" {
			return "--untrusted verify runs the steps here and compares, --untrusted use accepts it"
		}
		return "key sign signs it, shared = \"use\" in the results block accepts it"
	case artifacts.UnknownKey:
		return fmt.Sprintf("if you know whose key this is: results { trust = [%q] }", p.Signer.String())
	}
	return ""
}

// Others is what a preview found in other stores, and what it would fetch from them.
type Others struct {
	Stores   []OtherStore   `json:"stores"`
	Passed   []Passed       `json:"not_believed"`
	Unsigned map[string]int `json:"unsigned,omitempty"`     // hits that no trusted key signed, by store
	Own      int            `json:"own_unsigned,omitempty"` // hits in the own store that no trusted key signed, if keys are trusted
	Fetch    map[int]int64  `json:"-"`                      // bytes to fetch by step, 0 if all are here
	Blobs    int            `json:"fetch_blobs"`            // to fetch
}

type OtherStore struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Hits   int    `json:"hits"`
	Denied int    `json:"denied,omitempty"` // records for which it denied access
	Error  string `json:"error,omitempty"`  // why it does not answer
}

// Passed is existing results that are not used.
type Passed struct {
	From   string `json:"from,omitempty"` // "": the own store
	Reason string `json:"reason"`
	Signer string `json:"signer,omitempty"`
	Steps  int    `json:"steps"`
	Text   string `json:"text"`
	Do     string `json:"do,omitempty"`
}

type FetchGroup struct {
	Name  string `json:"name"`
	Steps int    `json:"steps"`
	Bytes int64  `json:"bytes"`
}

type OthersJSON struct {
	*Others
	Bytes  int64        `json:"fetch_bytes"`
	Blocks []FetchGroup `json:"fetch_blocks"`
}

// JSON returns the JSON value; nil if no other store was asked and nothing passed over.
func (o *Others) JSON(v *plan.Preview) *OthersJSON {
	if o == nil || len(o.Stores) == 0 && len(o.Passed) == 0 && o.Own == 0 {
		return nil
	}
	return &OthersJSON{o, o.Bytes(), o.Blocks(v)}
}

func (o *Others) Bytes() (n int64) {
	if o == nil {
		return 0
	}
	for _, size := range o.Fetch {
		n += size
	}
	return n
}

// Blocks sums up what would be fetched by block, largest first.
func (o *Others) Blocks(v *plan.Preview) []FetchGroup {
	groups := map[string]FetchGroup{}
	for i, s := range v.Plan.Steps {
		if size := o.Fetch[i]; size > 0 {
			g := groups[s.Block()]
			groups[s.Block()] = FetchGroup{s.Block(), g.Steps + 1, g.Bytes + size}
		}
	}
	return slices.SortedFunc(maps.Values(groups), func(x, y FetchGroup) int { return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Name, y.Name)) })
}
