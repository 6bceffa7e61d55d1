package choose

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// Blobs are the candidates, by their digests.
type Blobs map[artifacts.Digest]*Candidate

// Add records a blob that a step has, under a name there.
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

// Outputs records the files of a result's outputs.
func (b Blobs) Outputs(step int, r *artifacts.Result, use Use) {
	for _, output := range slices.Sorted(maps.Keys(r.Outputs)) {
		a := r.Outputs[output]
		if a.Files == nil {
			b.Add(step, output, a.Digest, a.Size, use)
		}
		for _, f := range a.Files {
			b.Add(step, output+"/"+f.Name, f.Digest, f.Size, use)
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

// Away notes which of some blobs the store lacks but has the address of; gone are those that
// it lacks altogether.
func (b Blobs) Away(ctx context.Context, store artifacts.Store, some []artifacts.Digest) (gone []artifacts.Digest, err error) {
	away, gone, err := store.Away(ctx, some)
	for _, e := range away {
		b[e.Digest].Away, b[e.Digest].URL = true, e.URL
	}
	return gone, err
}

// Take marks those that a choice takes.
func (b Blobs) Take(c Choice) { c.Take(slices.Collect(maps.Values(b))) }

// Has reports whether a blob is taken.
func (b Blobs) Has(d artifacts.Digest) bool { return b[d] != nil && b[d].Taken }

// LeftOut are those that are not taken, in the order of steps and names. A log is not among
// them: without it, a result is still whole.
func (b Blobs) LeftOut() (left []*Candidate) {
	for _, c := range b {
		if !c.Taken && c.Use != Said {
			left = append(left, c)
		}
	}
	slices.SortFunc(left, func(x, y *Candidate) int {
		return cmp.Or(x.Steps[0]-y.Steps[0], strings.Compare(x.Name, y.Name), x.Digest.Compare(y.Digest))
	})
	return left
}
