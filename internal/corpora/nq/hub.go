package nq

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/columns"
	"github.com/redsi/redsi/internal/system/values"
)

// The columns of google-research-datasets/natural_questions that a Record needs, in the order of hubRows.
var hubColumns = []struct {
	name string
	kind columns.Kind
}{
	{"id", columns.Texts}, {"question.text", columns.Texts},
	{"document.url", columns.Texts}, {"document.title", columns.Texts}, {"document.html", columns.Texts},
	{"document.tokens.token", columns.Texts}, {"document.tokens.is_html", columns.Bools},
	{"document.tokens.start_byte", columns.Ints}, {"document.tokens.end_byte", columns.Ints},
}

// Places in hubColumns.
const (
	hubID = iota
	hubQuestion
	hubURL
	hubTitle
	hubHTML
	hubToken
	hubIsHTML
	hubStart
	hubEnd
)

// NewHubReader reads a Parquet file of the Hugging Face hub's Natural Questions. It gives the same records, counts and
// faults as NewReader does for the original lines, with rows for lines and the bytes of the columns read as
// Counts.BytesOut. Format Simplified reads only the columns that the simplified format has, for files from before there
// were byte offsets. Memory is bounded by two pages of each column, or one large page with its dictionary: some five
// times the HTML of a group of rows if it is in one page, as pyarrow writes 1,000 rows.
func NewHubReader(in io.ReaderAt, size int64, name string, o Options) *Reader {
	rd := newReader(name, o)
	rd.hub = &hubRows{size: size, simplified: o.Format == Simplified}
	if err := rd.hub.open(in); err != nil {
		rd.refuse(rd.hubError(err))
		return rd
	}
	rd.start(rd.hub.fill)
	return rd
}

// hubRows turns rows into records. Its columns are in the order of hubColumns, nil if not read.
type hubRows struct {
	*columns.Rows
	size       int64
	rows       int64
	simplified bool
}

func (h *hubRows) open(in io.ReaderAt) error {
	f, err := columns.Open(in, h.size)
	if err != nil {
		return err
	}
	h.rows = f.NumRows()
	wanted := make([]columns.Wanted, len(hubColumns))
	for i, c := range hubColumns {
		if h.simplified && slices.Contains([]int{hubTitle, hubHTML, hubStart, hubEnd, hubIsHTML}, i) {
			wanted[i].At = -1
			continue
		}
		at := f.Index(c.name)
		switch {
		case at < 0 && (i == hubStart || i == hubEnd):
			return fmt.Errorf(`there is no column %q: the file is of a revision from before there were byte offsets; download a later one, or read only the text by format = "simplified"`, c.name)
		case at < 0:
			return fmt.Errorf("there is no column %q: the Parquet file is not Natural Questions as google-research-datasets/natural_questions has it; its columns are %s", c.name, strings.Join(f.Names, ", "))
		}
		wanted[i] = columns.Wanted{At: at, Kind: c.kind}
	}
	h.Rows, err = f.Read(wanted)
	return err
}

// record fills r from the current row, and reports whether the row has an id. Its errors are faults.
func (h *hubRows) record(r *Record) (hasID bool, err error) {
	r.Reset()
	id := h.Columns[hubID]
	if r.ExampleID, err = strconv.ParseInt(string(id.Text), 10, 64); err != nil && id.Len() == 1 {
		return false, Faultf(BadType, "column id is not an integer that fits 64 bits: %.40q", id.Text)
	}
	return err == nil, h.fields(r)
}

func (h *hubRows) fields(r *Record) error {
	texts := h.Columns[hubToken]
	for i, c := range h.Columns {
		switch {
		case c == nil:
		case i < hubToken && c.Len() != 1:
			return Faultf(MissingField, "column %s is null", c.Name)
		case i >= hubToken && c.Null():
			return Faultf(MissingField, "column %s has a null among its values", c.Name)
		case i > hubToken && c.Len() != texts.Len():
			return Faultf(BadType, "column %s has %d values, and %s has %d", c.Name, c.Len(), texts.Name, texts.Len())
		case !utf8.Valid(c.Text):
			return Faultf(BadUTF8, "column %s: not UTF-8 at byte %d", c.Name, values.InvalidUTF8(c.Text))
		}
	}
	r.Question, r.URL = string(h.Columns[hubQuestion].Text), string(h.Columns[hubURL].Text)
	all, from := string(texts.Text), 0
	r.Tokens = slices.Grow(r.Tokens, len(texts.Ends))
	for _, end := range texts.Ends {
		r.Tokens = append(r.Tokens, Token{Text: all[from:end]})
		from = end
	}
	if h.simplified {
		r.Text, r.Tokens = SimplifiedText(r.Tokens), nil
		return nil
	}
	r.Title = string(h.Columns[hubTitle].Text)
	html := h.Columns[hubHTML]
	r.HTML, html.Text = html.Text, r.HTML
	tags, starts, ends := h.Columns[hubIsHTML].Bools, h.Columns[hubStart].Ints, h.Columns[hubEnd].Ints
	for i := range r.Tokens {
		t := &r.Tokens[i]
		t.HTML, t.Start, t.End = tags[i], int32(starts[i]), int32(ends[i])
		if int64(t.Start) != starts[i] || int64(t.End) != ends[i] {
			return Faultf(BadOffset, "token %d: bytes %d to %d are beyond any document", i, starts[i], ends[i])
		}
	}
	return nil
}

func (h *hubRows) fill(b *batch) {
	b.ends, b.buf, b.n, b.bytes, b.err = b.ends[:0], b.buf[:0], 0, 0, nil
	for size := 0; size < batchBytes && b.n < batchRecords; {
		if b.err = h.Next(); b.err != nil {
			return
		}
		it := b.item(len(b.ends))
		b.ends = append(b.ends, 0)
		for _, c := range h.Columns {
			if c != nil {
				b.bytes += int64(len(c.Text)+len(c.Bools)) + 8*int64(len(c.Ints))
			}
		}
		it.hasID, it.err = h.record(&it.rec)
		size += len(it.rec.HTML) + len(it.rec.Text) + 32*len(it.rec.Tokens)
	}
}

// hubError describes an error that ends the file.
func (rd *Reader) hubError(err error) *RecordError {
	e := &RecordError{File: rd.name, Line: 1, Reason: BadStream, Detail: err.Error()}
	if rd.hub.Rows != nil {
		e.Line = rd.hub.Row + 1
	}
	if errors.As(err, new(*fs.PathError)) {
		e.Reason, e.Err = ReadFailed, err
	}
	return e
}
