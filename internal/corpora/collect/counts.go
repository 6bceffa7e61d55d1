package collect

import "github.com/redsi/redsi/internal/corpora/nq"

// Counts counts the records of a role's files, each in Records or Skipped; Skipped also counts a file without records.
type Counts struct {
	Records int64 `json:"records"`
	Blank   int64 `json:"blank_lines"`
	nq.Skips[BadRecord]
	Bytes int64 `json:"bytes" unit:"bytes"` // as stored, compressed
}

// BadRecord names a skipped record. Line, or the row of a Parquet table, counts from one.
type BadRecord struct {
	File   string    `json:"file"`
	Line   int64     `json:"line"`
	Reason nq.Reason `json:"reason"`
	Detail string    `json:"detail"`
}
