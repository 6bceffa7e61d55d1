package collect

import (
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/values"
)

// maxNamed bounds how many records that were left out Counts names; the rest is counted.
const maxNamed = 20

// Counts says what was read of the files of a role. Every record is in exactly one of
// Records and Skipped; Skipped also counts a file without records.
type Counts struct {
	Records int64               `json:"records"`
	Blank   int64               `json:"blank_lines"`
	Skipped map[nq.Reason]int64 `json:"skipped,omitempty"`
	Named   []BadRecord         `json:"skipped_examples,omitempty"` // the first 20 skipped
	Bytes   int64               `json:"bytes" unit:"bytes"`         // as stored, compressed
}

// BadRecord names a record that was left out. Line counts from one; of a Parquet table it is
// the row.
type BadRecord struct {
	File   string    `json:"file"`
	Line   int64     `json:"line"`
	Reason nq.Reason `json:"reason"`
	Detail string    `json:"detail"`
}

func (c *Counts) skip(e *nq.RecordError) {
	if c.Skipped == nil {
		c.Skipped = map[nq.Reason]int64{}
	}
	c.Skipped[e.Reason]++
	if len(c.Named) < maxNamed {
		c.Named = append(c.Named, BadRecord{e.File, e.Line, e.Reason, e.Detail})
	}
}

// add adds what was read elsewhere.
func (c *Counts) add(o Counts) {
	values.Add(c, o)
	c.Named = append(c.Named, o.Named[:min(len(o.Named), maxNamed-len(c.Named))]...)
}

// SkippedTotal is the number of records that were left out.
func (c *Counts) SkippedTotal() (n int64) {
	for _, k := range c.Skipped {
		n += k
	}
	return n
}
