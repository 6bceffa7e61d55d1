package archive

import (
	"encoding/json"
	"slices"

	"github.com/redsi/redsi/artifacts"
)

// Candidate is a blob that an archive may contain.
type Candidate struct {
	Digest artifacts.Digest
	Size   int64
	Use    Use
	Away   bool // not here but at its address, where it stays if only steps read it
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

// Choice says which blobs an archive contains.
type Choice struct {
	Which string // All, Tables or None
	Over  int64  // leave out larger ones; 0: none
	Fit   int64  // other blobs than rendered ones must fit into so many bytes, smallest first; 0: any
}

// Take marks the candidates that the archive contains: necessary ones always, and rendered
// ones unless the choice is None. Equal candidates are treated alike.
func (c Choice) Take(all []*Candidate) {
	order := slices.Clone(all)
	slices.SortFunc(order, func(a, b *Candidate) int {
		if a.Use != b.Use {
			return int(b.Use - a.Use)
		}
		if a.Size != b.Size {
			return int(min(1, max(-1, a.Size-b.Size)))
		}
		return a.Digest.Compare(b.Digest)
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

// BodyOf is the blob that a long result's record names; ok is false for any other record.
func BodyOf(record []byte) (d artifacts.Digest, ok bool) {
	var r struct {
		Body *artifacts.Digest `json:"body"`
	}
	if json.Unmarshal(record, &r) != nil || r.Body == nil {
		return d, false
	}
	return *r.Body, true
}
