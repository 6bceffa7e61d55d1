// Package choose owns which blobs of results go into an archive or a folder for readers, and which are left out: blobs
// that are too large, and blobs that have an address of their own. It must not know where the blobs go, or what follows
// from leaving one out.
package choose

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
)

// Candidate is a blob that may be taken.
type Candidate struct {
	Digest artifacts.Digest
	Size   int64
	Use    Use
	Steps  []int  // that have the blob, in their order
	Name   string // in the first of these steps
	URL    string // where readers can fetch it; "": nowhere
	Away   bool   // not here but at that address, where it stays if only steps read it
	Taken  bool
}

// Use says what a blob is for; the most important of several uses counts.
type Use int

// The uses of blobs.
const (
	Said         Use = iota // a step's log, without which its result is still valid
	Intermediate            // read only by other steps
	Rendered                // a table or figure, or its data
	Necessary               // no plan works without it: the body of a record, a file of the project
)

// The names of choices.
const (
	All    = "all"    // every blob
	Tables = "tables" // blobs of tables and figures
	None   = "none"   // only what a plan needs
)

// Choice says which blobs are taken.
type Choice struct {
	Which string // All, Tables or None
	Over  int64  // leave out larger blobs; 0: none
	Fit   int64  // intermediate blobs, smallest first, only while all blobs but logs have at most so many bytes; 0: any
}

// Take marks the blobs that a choice takes: necessary ones always, and rendered ones unless the choice is None.
func (b Blobs) Take(c Choice) {
	var sum int64
	for _, x := range slices.SortedFunc(maps.Values(b), func(a, b *Candidate) int {
		return cmp.Or(cmp.Compare(b.Use, a.Use), cmp.Compare(a.Size, b.Size), a.Digest.Compare(b.Digest))
	}) {
		switch {
		case x.Use == Necessary:
			x.Taken = true
		case x.Use == Rendered, x.Use == Said:
			x.Taken = c.Which != None
		default:
			x.Taken = !x.Away && c.Which == All && (c.Over == 0 || x.Size <= c.Over) && (c.Fit == 0 || sum+x.Size <= c.Fit)
		}
		if x.Taken {
			sum += x.Size
		}
	}
}

// Blobs are the candidates, by their digests.
type Blobs map[artifacts.Digest]*Candidate

// Add records a blob that a step has under a name.
func (b Blobs) Add(step int, name string, d artifacts.Digest, size int64, use Use) {
	c := b[d]
	if c == nil {
		c = &Candidate{Digest: d, Size: size, Name: name}
		b[d] = c
	}
	if n := len(c.Steps); n == 0 || c.Steps[n-1] != step {
		c.Steps = append(c.Steps, step)
	}
	c.Use = max(c.Use, use)
}

// Outputs records the files of a result's outputs; rendered says that the step is a table or figure.
func (b Blobs) Outputs(step int, r *artifacts.Result, rendered bool) {
	use := Intermediate
	if rendered {
		use = Rendered
	}
	for _, output := range slices.Sorted(maps.Keys(r.Outputs)) {
		for _, f := range r.Outputs[output].Named("") {
			b.Add(step, path.Join(output, f.Name), f.Digest, f.Size, use)
		}
	}
}

// Addressed notes where readers can fetch blobs.
func (b Blobs) Addressed(urls map[artifacts.Digest]string) {
	for d, url := range urls {
		if c := b[d]; c != nil {
			c.URL = url
		}
	}
}

// Away notes the blobs that the store lacks but has an address for; gone are those that it lacks altogether.
func (b Blobs) Away(ctx context.Context, store artifacts.Store, some []artifacts.Digest) (gone []artifacts.Digest, err error) {
	away, gone, err := store.Away(ctx, some)
	for _, e := range away {
		b[e.Digest].Away, b[e.Digest].URL = true, e.URL
	}
	return gone, err
}

// Has reports whether a blob is taken.
func (b Blobs) Has(d artifacts.Digest) bool { return b[d] != nil && b[d].Taken }

// LeftOut returns the blobs that are not taken, by steps and names, except logs: without its log a result is complete.
func (b Blobs) LeftOut() (left []*Candidate) {
	left = lists.Filter(slices.Collect(maps.Values(b)), func(c *Candidate) bool { return !c.Taken && c.Use != Said })
	slices.SortFunc(left, func(x, y *Candidate) int {
		return cmp.Or(x.Steps[0]-y.Steps[0], strings.Compare(x.Name, y.Name), x.Digest.Compare(y.Digest))
	})
	return left
}
