// Package choose owns which blobs of results go with them, into an archive or a folder for
// readers, and which are left out: those that are too large, and those that lie at an address
// of their own. It must not know where the blobs go, or what follows from leaving one out.
package choose

import (
	"cmp"
	"slices"

	"github.com/redsi/redsi/artifacts"
)

// Candidate is a blob that may be taken.
type Candidate struct {
	Digest artifacts.Digest
	Size   int64
	Use    Use
	Steps  []int  // that have it, in their order
	Name   string // in the first step
	URL    string // where readers can fetch it; "": nowhere
	Away   bool   // not here but at that address, where it stays if only steps read it
	Taken  bool
}

// Use says what a blob is for; of several uses the most important one counts.
type Use int

// The uses of blobs.
const (
	Said         Use = iota // a step's log, without which its result is still valid
	Intermediate            // what only other steps read
	Rendered                // a table or figure, or its data
	Necessary               // nothing can be planned without it: the body of a record, a file of the project
)

// The names of choices.
const (
	All    = "all"    // every blob
	Tables = "tables" // those of tables and figures
	None   = "none"   // only what a plan needs
)

// Choice says which blobs are taken.
type Choice struct {
	Which string // All, Tables or None
	Over  int64  // leave out larger ones; 0: none
	Fit   int64  // other blobs than rendered ones must fit into so many bytes, smallest first; 0: any
}

// Take marks the candidates that are taken: necessary ones always, and rendered
// ones unless the choice is None. Equal candidates are treated alike.
func (c Choice) Take(all []*Candidate) {
	order := slices.Clone(all)
	slices.SortFunc(order, func(a, b *Candidate) int {
		return cmp.Or(cmp.Compare(b.Use, a.Use), cmp.Compare(a.Size, b.Size), a.Digest.Compare(b.Digest))
	})
	var sum int64
	for _, x := range order {
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
