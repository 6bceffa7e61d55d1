package belief

import (
	"cmp"
	"slices"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// Others is what a preview found in other stores, and what it would fetch from them.
type Others struct {
	Stores   []OtherStore
	Passed   []Passed
	Unsigned map[string]int // hits that no trusted key signed, by store
	Own      int            // hits in the own store that no trusted key signed, if keys are trusted
	Fetch    map[int]int64  // bytes to fetch by step, 0 if all are here
	Blobs    int            // to fetch
}

// OtherStore is one of them.
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

// FetchGroup is what would be fetched for a block.
type FetchGroup struct {
	Name  string `json:"name"`
	Steps int    `json:"steps"`
	Bytes int64  `json:"bytes"`
}

// OthersJSON is Others in JSON.
type OthersJSON struct {
	Stores   []OtherStore   `json:"stores"`
	Passed   []Passed       `json:"not_believed"`
	Unsigned map[string]int `json:"unsigned,omitempty"`
	Own      int            `json:"own_unsigned,omitempty"`
	Bytes    int64          `json:"fetch_bytes"`
	Blobs    int            `json:"fetch_blobs"`
	Blocks   []FetchGroup   `json:"fetch_blocks"`
}

// JSON makes the JSON value; nil if no other store was asked and nothing passed over.
func (o *Others) JSON(v *plan.Preview) *OthersJSON {
	if o == nil || len(o.Stores) == 0 && len(o.Passed) == 0 && o.Own == 0 {
		return nil
	}
	return &OthersJSON{Stores: append([]OtherStore{}, o.Stores...), Passed: append([]Passed{}, o.Passed...), Unsigned: o.Unsigned, Own: o.Own,
		Bytes: o.Bytes(), Blobs: o.Blobs, Blocks: append([]FetchGroup{}, o.Blocks(v)...)}
}

// Bytes is how much would be fetched.
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
func (o *Others) Blocks(v *plan.Preview) (groups []FetchGroup) {
	at := map[string]int{}
	for i, s := range v.Plan.Steps {
		size, ok := o.Fetch[i]
		if !ok || size == 0 {
			continue
		}
		block := pipeline.BlockOf(s.Address)
		n, ok := at[block]
		if !ok {
			n, at[block] = len(groups), len(groups)
			groups = append(groups, FetchGroup{Name: block})
		}
		groups[n].Steps++
		groups[n].Bytes += size
	}
	slices.SortStableFunc(groups, func(x, y FetchGroup) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return groups
}
