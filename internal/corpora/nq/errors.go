package nq

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/system/values"
)

// Reason says why a record was not read. The strings are stable: they appear in artifacts and messages.
type Reason string

const (
	ReadFailed   Reason = "read"       // the underlying reader failed; never skipped
	BadStream    Reason = "stream"     // the file is damaged, ends early or is of another format; never skipped
	LineTooLong  Reason = "line-size"  // a line exceeds Options.MaxLine; never skipped
	EmptyFile    Reason = "empty-file" // a file without records; Skip counts it
	BadUTF8      Reason = "utf8"       // bytes are not UTF-8, or an escape is half a surrogate pair
	BadJSON      Reason = "json"       // not one JSON object, or a needed field occurs twice
	BadType      Reason = "type"       // a needed field has another type or does not fit its range
	MissingField Reason = "missing"    // a field of the expected format is absent
	BadOffset    Reason = "offset"     // a token's span lies outside document_html or cuts a code point
	Overlap      Reason = "overlap"    // a token's span starts before the previous one ends
	Unusable     Reason = "unusable"   // no later step can use the record: no question, text, URL or title
	Duplicate    Reason = "duplicate"  // its example_id occurred before
)

// RecordError says which record could not be read and why. Line counts from one; of BadStream, one past the last.
type RecordError struct {
	File      string `json:"file"`
	Line      int64  `json:"line"`
	ExampleID int64  `json:"example_id"` // valid if HasID
	HasID     bool   `json:"has_id"`
	Reason    Reason `json:"reason"`
	Detail    string `json:"detail"`
	Err       error  `json:"-"` // cause of ReadFailed and BadStream
}

func (e *RecordError) Unwrap() error { return e.Err }

func (e *RecordError) Error() string {
	id := ""
	if e.HasID {
		id = fmt.Sprintf("example_id %d: ", e.ExampleID)
	}
	return fmt.Sprintf("%s:%d: %s%s (%s)", e.File, e.Line, id, e.Detail, e.Reason)
}

// maxNamed is how many skipped records Skips names.
const maxNamed = 20

// Skips counts the records that a reader left out, by reason, and names the first of them.
type Skips[T any] struct {
	Skipped map[Reason]int64 `json:"skipped,omitempty"`
	Named   []T              `json:"skipped_examples,omitempty"` // the first 20 skipped
}

func (s *Skips[T]) Skip(reason Reason, record T) {
	if s.Skipped == nil {
		s.Skipped = map[Reason]int64{}
	}
	s.Skipped[reason]++
	s.Name(record)
}

// Name adds records to Named while there is room.
func (s *Skips[T]) Name(more ...T) {
	s.Named = append(slices.Clip(s.Named), more[:min(len(more), maxNamed-len(s.Named))]...)
}

func (s *Skips[T]) SkippedTotal() (n int64) {
	for _, k := range s.Skipped {
		n += k
	}
	return n
}

// Counts reports a Reader's lines, each Records, Blank or Skipped; Skipped also counts a file without records.
type Counts struct {
	Records int64 `json:"records"`
	Blank   int64 `json:"blank_lines,omitempty"`
	Skips[RecordError]
	Fallbacks int64 `json:"fallbacks"`              // records that decodeLibrary decoded
	BytesIn   int64 `json:"bytes_in" unit:"bytes"`  // as stored, compressed
	BytesOut  int64 `json:"bytes_out" unit:"bytes"` // after decompression
}

// Add merges the counts of another shard; add shards in their order.
func (c *Counts) Add(o Counts) {
	values.Add(c, o)
	c.Name(o.Named...)
}
