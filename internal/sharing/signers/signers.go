// Package signers signs existing results of a store, and counts who signed what. It must not know where a key lies, or
// whether one must be trusted.
package signers

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/signature"
)

// Signing says which results are signed, and by whom.
type Signing struct {
	By    *signature.Private
	After signature.Public // only results that this key signed; zero: all

	// Damaged is told of results that cannot be used, and are not signed.
	Damaged func(key artifacts.Digest, why string)
}

// Signed counts results.
type Signed struct {
	Signed  int `json:"signed"`
	There   int `json:"there"`       // signed by the key already
	Passed  int `json:"passed_over"` // not signed by After
	Damaged int `json:"damaged"`
}

const chunk = 1024 // bounds the results in memory

// Sign signs results of a store.
func (o Signing) Sign(ctx context.Context, store *artifacts.Resolver, keys []artifacts.Digest) (n Signed, err error) {
	for some := range slices.Chunk(keys, chunk) {
		entries, err := artifacts.Inspect(ctx, store, some)
		if err != nil {
			return n, err
		}
		for _, key := range some {
			if e := entries[key]; !e.Hit() {
				n.Damaged++
				o.Damaged(key, e.Miss())
				continue
			}
			who, err := artifacts.Signatures(ctx, store.Own.Records, key)
			if err != nil {
				return n, err
			}
			by := func(p signature.Public) bool {
				return slices.ContainsFunc(who, func(s artifacts.Signed) bool { return s.Err == nil && s.By.Same(p) })
			}
			switch {
			case !o.After.IsZero() && !by(o.After):
				n.Passed++
			case by(o.By.Public()):
				n.There++
			default:
				if _, err := artifacts.SignResult(ctx, store.Own, key, o.By); err != nil {
					return n, err
				}
				n.Signed++
			}
		}
	}
	return n, nil
}

// Signer counts what a key signed in a store.
type Signer struct {
	Key      string `json:"key,omitempty"` // "": not signed
	Standing string `json:"standing,omitempty"`
	Own      bool   `json:"own,omitempty"`
	Results  int    `json:"results"`
	Damaged  int    `json:"damaged,omitempty"` // signatures that do not match their record
}

// List counts the signers of results, the most frequent first; me may be nil.
func List(ctx context.Context, store artifacts.Store, keys []artifacts.Digest, ring signature.Ring, me *signature.Private) ([]*Signer, error) {
	rows := map[string]*Signer{}
	row := func(p signature.Public) *Signer {
		id := ""
		if !p.IsZero() {
			id = p.ID()
		}
		if rows[id] == nil {
			rows[id] = &Signer{}
			if id != "" {
				rows[id].Key, rows[id].Standing = p.String(), string(ring.Of(p))
				rows[id].Own = me != nil && me.Public().Same(p)
			}
		}
		return rows[id]
	}
	for _, key := range keys {
		who, err := artifacts.Signatures(ctx, store.Records, key)
		if err != nil {
			return nil, err
		}
		valid := false
		for _, s := range who {
			if s.Err != nil {
				row(s.By).Damaged++
				continue
			}
			valid = true
			row(s.By).Results++
		}
		if !valid {
			row(signature.Public{}).Results++
		}
	}
	return append([]*Signer{}, slices.SortedFunc(maps.Values(rows), func(x, y *Signer) int {
		return cmp.Or(cmp.Compare(y.Results, x.Results), cmp.Compare(x.Key, y.Key))
	})...), nil
}
