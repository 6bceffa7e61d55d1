package collect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/readers"
)

// File is one file, plain or compressed.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
	Path func() (string, error) // of a local copy, for formats that need random access
}

// Reading says how files of a role are read.
type Reading struct {
	Format  Format            // Auto: each file by its contents and name
	Fields  map[string]string // names in the files by FieldNames, where they differ from the usual names
	Columns []string          // FieldNames of the columns of a table without a line of names, "" for others
}

type FileReport struct {
	Name    string   `json:"name"`
	Role    Role     `json:"role"`
	Split   nq.Split `json:"split,omitempty"` // "": told by its records, or drawn
	Format  Format   `json:"format"`
	Header  bool     `json:"header,omitempty"` // a table's first line has the names of its columns
	Records int64    `json:"records"`
}

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

// Policy says what becomes of unusable records.
type Policy struct {
	Skip  bool // they are counted by reason, and the first are named; else the first is an error
	Empty bool // a file may have no usable records
}

// stream gives a file's records. A *nq.Fault is about one record, errBlank and errHeader stand for a line without a record;
// other errors end the stream.
type stream interface {
	next() (*record, error) // valid until the next call
	at() int64              // line or row of the last record, from one
}

var (
	errBlank  = errors.New("a blank line")
	errHeader = errors.New("the line of names")
)

// eachRecord visits a file's records and counts them. A fault from visit makes a bad record; a damaged file always fails.
// Errors name the file and the line, or the row of a Parquet table.
func (p Policy) eachRecord(ctx context.Context, f File, role Role, how Reading, counts *Counts, visit func(at int64, r *record) error) (FileReport, error) {
	report := FileReport{Name: f.Name, Role: role}
	records, at := counts.Records, int64(0)
	refuse := func(reason nq.Reason, detail string, err error) error {
		e := nq.RecordError{File: f.Name, Line: at, Reason: reason, Detail: detail, Err: err}
		if !p.Skip || reason == nq.BadStream {
			return &e
		}
		counts.Skip(reason, BadRecord{e.File, e.Line, reason, detail})
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return report, err
	}
	defer in.Close()
	stored := unpack.NewCounter(readers.WithContext(ctx, in))
	damaged := func(err error) error {
		at++
		if stored.Err != nil {
			return fmt.Errorf("%s: %w", f.Name, stored.Err)
		}
		return refuse(nq.BadStream, err.Error(), err)
	}
	s := schemaOf(role, how.Fields)
	src, done, err := open(f, stored, role, how, s, &report)
	if err != nil {
		return report, damaged(err)
	}
	defer done()
	for {
		r, err := src.next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case errors.Is(err, errHeader):
			report.Header = true
			continue
		case errors.Is(err, errBlank):
			counts.Blank++
			continue
		}
		if err == nil || errors.As(err, new(*nq.Fault)) {
			at = src.at()
		} else {
			if at = max(at, src.at()); errors.As(err, new(*unreadable)) {
				return report, refuse(nq.BadStream, err.Error(), err)
			}
			return report, damaged(err)
		}
		if err == nil {
			err = r.check(s, role)
		}
		if err == nil {
			err = visit(at, r)
		}
		if bad := (*nq.Fault)(nil); errors.As(err, &bad) {
			err = refuse(bad.Reason, bad.Detail, nil)
		} else if err == nil {
			counts.Records++
		} else if !errors.As(err, new(*Unwritten)) {
			err = fmt.Errorf("%s:%d: %w", f.Name, at, err)
		}
		if err != nil {
			return report, err
		}
	}
	counts.Bytes += stored.Taken()
	if report.Records = counts.Records - records; report.Records == 0 && !p.Empty {
		at++
		return report, refuse(nq.EmptyFile, "the file has no usable records", nil)
	}
	return report, nil
}

// Unwritten is an error of the consumer of records, not of a file.
type Unwritten struct{ Err error }

func (e *Unwritten) Error() string { return e.Err.Error() }
func (e *Unwritten) Unwrap() error { return e.Err }

// unreadable is an error in a line that makes the rest of the file meaningless.
type unreadable struct{ detail string }

func (e *unreadable) Error() string { return e.detail }

func open(f File, stored io.Reader, role Role, how Reading, s schema, report *FileReport) (stream, func(), error) {
	raw := bufio.NewReaderSize(stored, 64<<10)
	if mark, _ := raw.Peek(4); string(mark) == "PAR1" {
		if report.Format = Parquet; how.Format != Auto && how.Format != Parquet {
			return nil, nil, fmt.Errorf("the file is a Parquet table, not %s", how.Format)
		}
		path, err := f.Path()
		if err != nil {
			return nil, nil, err
		}
		p, err := openParquet(path, role, s)
		if err != nil {
			return nil, nil, err
		}
		return p, p.close, nil
	}
	z, err := unpack.Open(raw)
	if err != nil {
		return nil, nil, err
	}
	in := bufio.NewReaderSize(z, headBytes)
	head, err := in.Peek(headBytes)
	if err != nil && len(head) == 0 && !errors.Is(err, io.EOF) {
		z.Close()
		return nil, nil, err
	} // damage behind the head is found by the stream, which names the line
	if report.Format = how.Format; how.Format == Auto {
		report.Format = formatOf(f.Name, head)
	}
	rec := record{values: make([]value, len(s))}
	table := tabular{role: role, schema: s, columns: how.Columns, width: len(how.Columns), rec: rec}
	switch format := report.Format; {
	case format == JSONL:
		return newJSONLines(in, s, rec), z.Close, nil
	case format == TSV, format == TREC && role == Judgments:
		return &tabs{tabular: table, lines: unpack.NewLines(in)}, z.Close, nil
	case format == CSV:
		return newQuoted(in, head, table), z.Close, nil
	case format == TREC:
		return &elements{lines: unpack.NewLines(in), role: role, schema: s, rec: rec}, z.Close, nil
	}
	z.Close()
	return nil, nil, fmt.Errorf("the file is no %s", strings.ToUpper(string(report.Format[:1]))+string(report.Format[1:])+" table")
}
