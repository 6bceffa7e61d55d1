package msmarco

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/qrels"
	"github.com/redsi/redsi/internal/corpora/unpack"
)

// Document is one line of msmarco-docs.tsv: docid, url, title and body with a tab between
// them. Nothing is quoted: quotation marks are text, and so are tabs in the body.
type Document struct {
	ID               int64 // of "D301595", 301595
	URL, Title, Body []byte
}

// Name is a document's docid as the files have it.
func Name(id int64) string { return "D" + strconv.FormatInt(id, 10) }

// Empty reports that a body has no words.
func (d *Document) Empty() bool { return len(bytes.TrimSpace(d.Body)) == 0 }

// Query is one line of a file of queries: its number, a tab and the question.
type Query struct {
	ID   int64
	Text string
}

// Judgment is one line of qrels: "query 0 document relevance".
type Judgment struct {
	Query, Document int64
	Relevant        bool // relevance above 0
}

// fault is why a line cannot be used.
type fault struct {
	reason nq.Reason
	detail string
}

func (f *fault) Error() string { return f.detail }

func faultf(reason nq.Reason, format string, args ...any) error {
	return &fault{reason, fmt.Sprintf(format, args...)}
}

// Repeated is a bad line: its document was there before.
func Repeated(id int64) error {
	return faultf(nq.Duplicate, "document %s was there before", Name(id))
}

// ParseDocument reads a line; the document is valid as long as the line.
func ParseDocument(line []byte) (d Document, err error) {
	docid, rest, _ := bytes.Cut(line, []byte{'\t'})
	var ok bool
	if d.URL, rest, ok = bytes.Cut(rest, []byte{'\t'}); ok {
		d.Title, d.Body, ok = bytes.Cut(rest, []byte{'\t'})
	}
	switch {
	case !ok:
		return d, faultf(nq.MissingField, "%d fields, want 4: docid, url, title and body, with tabs between them", 1+bytes.Count(line, []byte{'\t'}))
	case !utf8.Valid(line):
		return d, faultf(nq.BadUTF8, "the line is not UTF-8")
	}
	d.ID, err = parseDocID(string(docid))
	return d, err
}

// ParseQuery reads a line of queries.
func ParseQuery(line []byte) (q Query, err error) {
	qid, text, ok := bytes.Cut(line, []byte{'\t'})
	switch {
	case !ok:
		return q, faultf(nq.MissingField, "1 field, want 2: number and query, with a tab between them")
	case !utf8.Valid(line):
		return q, faultf(nq.BadUTF8, "the line is not UTF-8")
	case len(bytes.TrimSpace(text)) == 0:
		return q, faultf(nq.Unusable, "the query has no words")
	}
	q.Text = string(text)
	q.ID, err = parseNumber(string(qid), "query")
	return q, err
}

// ParseJudgment reads a line of qrels.
func ParseJudgment(line []byte) (j Judgment, err error) {
	t, err := qrels.Parse(string(line))
	if err != nil {
		return j, faultf(nq.BadType, "%v", err)
	}
	j.Relevant = t.Grade > 0
	if j.Query, err = parseNumber(t.Query, "query"); err != nil {
		return j, err
	}
	j.Document, err = parseDocID(t.Document)
	return j, err
}

// parseDocID reads "D301595". Only what Name writes is one, so that the number stands for
// the docid.
func parseDocID(s string) (int64, error) {
	digits, ok := strings.CutPrefix(s, "D")
	if !ok {
		return 0, faultf(nq.BadType, "docid %.40q is not D and a number", s)
	}
	return parseNumber(digits, "docid D")
}

func parseNumber(s, what string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0, faultf(nq.BadType, "%s%.40q: want a whole number without sign or leading zeros", what+" ", s)
	}
	return n, nil
}

// Policy is what becomes of lines that cannot be used.
type Policy struct {
	Skip  bool // they are counted by reason and the first are named; else the first is an error
	Empty bool // a file without lines is none of them
}

// EachLine visits the lines of a file, plain or compressed, and counts them. A line is valid
// during the call, without its end ("\n" or "\r\n"). What this package's parsers refuse is a
// bad line, and so is a file without lines; a damaged file always fails. Errors have the
// file's name and the line.
func (p Policy) EachLine(in io.Reader, name string, counts *nq.Counts, visit func(line []byte) error) error {
	stored := unpack.NewCounter(in)
	records := counts.Records
	at := int64(0)
	refuse := func(reason nq.Reason, detail string, err error) error {
		e := nq.RecordError{File: name, Line: at, Reason: reason, Detail: detail, Err: err}
		if !p.Skip || reason == nq.BadStream {
			return &e
		}
		counts.Skip(&e)
		return nil
	}
	damaged := func(err error) error {
		at++
		if stored.Err() != nil {
			return fmt.Errorf("%s: %w", name, stored.Err())
		}
		return refuse(nq.BadStream, err.Error(), err)
	}
	z, err := unpack.Open(stored)
	if err != nil {
		return damaged(err)
	}
	defer z.Close()
	lines := unpack.NewLines(z)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return damaged(err)
		}
		at = int64(lines.Number())
		counts.BytesOut += int64(len(line)) + 1
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(bytes.TrimSpace(line)) == 0 {
			counts.Blank++
			continue
		}
		err = visit(line)
		if f := (*fault)(nil); errors.As(err, &f) {
			err = refuse(f.reason, f.detail, nil)
		} else if err != nil {
			err = fmt.Errorf("%s:%d: %w", name, at, err)
		} else {
			counts.Records++
		}
		if err != nil {
			return err
		}
	}
	counts.BytesIn += stored.Taken()
	if counts.Records == records && !p.Empty {
		at++
		return refuse(nq.EmptyFile, "the file has no usable lines", nil)
	}
	return nil
}
