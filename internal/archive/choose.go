package archive

import (
	"encoding/json"
	"slices"

	"github.com/redsi/redsi/artifacts"
)

// Candidate is a blob that an archive may have.
type Candidate struct {
	Digest artifacts.Digest
	Size   int64
	Use    Use
	Away   bool // it is not here, but where the archive says: it stays there if only steps read it
	Taken  bool
}

// Use says what a blob is for; the most important use of several counts.
type Use int

// The uses of blobs.
const (
	Said         Use = iota // what a step said, without which its result is one
	Intermediate            // what only other steps read
	Rendered                // of a table or figure, or its data
	Necessary               // without it nothing can be planned: the body of a record, a file of the project
)

// The names of choices.
const (
	All    = "all"    // every blob
	Tables = "tables" // those of tables and figures
	None   = "none"   // only what a plan needs
)

// Choice says which blobs an archive has.
type Choice struct {
	Which string // All, Tables or None
	Over  int64  // leave out larger ones; 0: none
	Fit   int64  // what is not rendered must fit into so many bytes, the smallest first; 0: any
}

// Take marks the candidates that the archive has. What is necessary always is, and what is
// rendered unless None says otherwise. Equal candidates are chosen alike.
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
