package nq

import "slices"

// Split names one side of the data set.
type Split string

// The two splits of Natural Questions, and the third split of other collections.
const (
	Train Split = "train"
	Dev   Split = "dev"
	Test  Split = "test"
)

// Splits lists the splits so that a query of a later split in an earlier one is a leak.
var Splits = []Split{Train, Dev, Test}

// Token is one element of document_tokens in the full format (paper, appendix "NQ Formats").
type Token struct {
	Text  string // the stored string; may differ from the HTML bytes it came from
	HTML  bool   // html_token: Text is a tag such as "<P>"
	Start int32  // start_byte, an offset into the UTF-8 bytes of document_html
	End   int32  // end_byte, exclusive
}

// Record is what retrieval needs of an NQ example: Title, HTML and Tokens if it is full, Text if it is simplified.
type Record struct {
	ExampleID int64  // may be negative
	Split     Split  // which side of the data set the record came from
	Question  string // question_text
	URL       string // document_url as stored: HTML-escaped, with &amp;oldid=

	Title  string  // document_title (full format only)
	HTML   []byte  // document_html, UTF-8 (full format only)
	Tokens []Token // document_tokens (full format only)

	Text string // document_text (simplified format only)
}

// Full reports whether the record carries byte-aligned tokens.
func (r *Record) Full() bool { return len(r.Tokens) > 0 || len(r.HTML) > 0 }

// Clone returns a record that shares no memory with r, for callers that keep a record beyond the next Reader.Next.
func (r *Record) Clone() *Record {
	c := *r
	c.HTML = slices.Clone(r.HTML)
	c.Tokens = slices.Clone(r.Tokens)
	return &c
}

// Reset empties r and keeps its buffers.
func (r *Record) Reset() {
	*r = Record{HTML: r.HTML[:0], Tokens: r.Tokens[:0]}
}
