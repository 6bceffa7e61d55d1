package nq

import "unicode/utf8"

// lineScanner decodes one line of either format, fields in any order, any JSON white space, reusing its buffers.
type lineScanner struct {
	s     scanner
	arena []byte     // every string of the record except HTML, back to back
	ends  []int      // arena end of each token's text
	have  fieldSet   // needed fields seen
	strs  [nStrs]int // arena start and end of each string field, by pairs; zeros if it is absent
}

// fieldSet holds one bit for each field that the Record needs.
type fieldSet uint16

const (
	hasQuestion fieldSet = 1 << iota
	hasURL
	hasTitle
	hasText
	hasHTML
	hasTokens
	hasExampleID
)

// Arena positions of the string fields.
const (
	atQuestion = 2 * iota
	atURL
	atTitle
	atText
	nStrs
)

// The names of the fields that a Record needs.
const (
	nameQuestion       = "question_text"
	nameURL            = "document_url"
	nameTitle          = "document_title"
	nameText           = "document_text"
	nameHTML           = "document_html"
	nameTokens         = "document_tokens"
	nameExampleID      = "example_id"
	nameQuestionTokens = "question_tokens"
	nameToken          = "token"
	nameHTMLToken      = "html_token"
	nameStart          = "start_byte"
	nameEnd            = "end_byte"
)

// scan decodes line into r, with a result equal to the library's (FuzzScan). It reports false, with r in any state, for a
// line of an unexpected form, which the library then decodes.
func (l *lineScanner) scan(line []byte, r *Record) (fieldSet, bool) {
	if !utf8.Valid(line) {
		return 0, false
	}
	r.Reset()
	l.s = scanner{b: line}
	l.arena, l.ends, l.have, l.strs = l.arena[:0], l.ends[:0], 0, [nStrs]int{}
	s := &l.s
	if !s.lit('{') {
		return 0, false
	}
	for more := true; more; more = s.more() {
		if k, ok := s.key(); !ok || !s.lit(':') || !l.field(k, r) {
			return 0, false
		}
	}
	if !s.lit('}') || s.ws() != 0 || s.p != len(line) {
		return 0, false
	}
	l.finish(r)
	return l.have, true
}

func (l *lineScanner) field(k []byte, r *Record) (ok bool) {
	s := &l.s
	switch string(k) {
	case nameHTML:
		if !l.first(hasHTML) {
			return false
		}
		if cap(r.HTML) == 0 {
			r.HTML = make([]byte, 0, len(s.b)/4) // about its share of a line
		}
		r.HTML, ok = s.str(r.HTML)
		return ok
	case nameTokens:
		return l.first(hasTokens) && l.tokens(r)
	case nameExampleID:
		if !l.first(hasExampleID) {
			return false
		}
		r.ExampleID, ok = s.integer()
		return ok
	case nameQuestion:
		return l.first(hasQuestion) && l.text(atQuestion)
	case nameURL:
		return l.first(hasURL) && l.text(atURL)
	case nameTitle:
		return l.first(hasTitle) && l.text(atTitle)
	case nameText:
		return l.first(hasText) && l.text(atText)
	}
	return s.skip(0)
}

// first notes the field f and reports whether it is its first occurrence.
func (l *lineScanner) first(f fieldSet) bool {
	seen := l.have&f != 0
	l.have |= f
	return !seen
}

func (l *lineScanner) text(at int) (ok bool) {
	l.strs[at] = len(l.arena)
	l.arena, ok = l.s.str(l.arena)
	l.strs[at+1] = len(l.arena)
	return ok
}

// finish turns the arena into one string that all texts of the record share.
func (l *lineScanner) finish(r *Record) {
	all := string(l.arena)
	for i := range r.Tokens {
		r.Tokens[i].Text = all[l.ends[i]:l.ends[i+1]]
	}
	cut := func(at int) string { return all[l.strs[at]:l.strs[at+1]] }
	r.Question, r.URL, r.Title, r.Text = cut(atQuestion), cut(atURL), cut(atTitle), cut(atText)
}
