package nq

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// Format is one of the published NQ file formats (paper, appendix "NQ Formats").
type Format int

const (
	Auto       Format = iota // each line by its fields
	Full                     // document_title, document_html and document_tokens
	Simplified               // document_text
)

var fieldNames = []struct {
	f    fieldSet
	name string
}{
	{hasExampleID, nameExampleID}, {hasQuestion, nameQuestion}, {hasURL, nameURL},
	{hasTitle, nameTitle}, {hasHTML, nameHTML}, {hasTokens, nameTokens}, {hasText, nameText},
}

// checkFields reports the first field that the format needs and the line lacks.
func checkFields(have fieldSet, format Format) error {
	const full = hasTitle | hasHTML | hasTokens
	need := hasExampleID | hasQuestion | hasURL
	switch {
	case format == Full, format == Auto && have&full != 0:
		need |= full
	case format == Simplified, have&hasText != 0:
		need |= hasText
	default:
		return Faultf(MissingField, "neither %s nor %s is there", nameTokens, nameText)
	}
	for _, n := range fieldNames {
		if need&n.f&^have != 0 {
			return Faultf(MissingField, "%s is missing", n.name)
		}
	}
	return nil
}

// checkOffsets verifies that spans lie in HTML between code points, none starting before the previous one ends.
func checkOffsets(r *Record) error {
	prev, size := int32(0), int32(len(r.HTML))
	for i := range r.Tokens {
		t := &r.Tokens[i]
		if t.fits(r.HTML, prev) {
			prev = t.End
			continue
		}
		if t.Start < 0 || t.End < t.Start || t.End > size {
			return Faultf(BadOffset, "token %d %q: bytes %d to %d of a document of %d bytes", i, t.Text, t.Start, t.End, size)
		}
		if t.Start < size && !utf8.RuneStart(r.HTML[t.Start]) || t.End < size && !utf8.RuneStart(r.HTML[t.End]) {
			return Faultf(BadOffset, "token %d %q: bytes %d to %d cut a code point", i, t.Text, t.Start, t.End)
		}
		return Faultf(Overlap, "token %d %q starts at byte %d, before the previous one ends at %d", i, t.Text, t.Start, prev)
	}
	return nil
}

// checkAligned refuses a record in which every span is empty: its file has zeros for offsets.
func checkAligned(r *Record) error {
	if len(r.Tokens) == 0 || slices.ContainsFunc(r.Tokens, func(t Token) bool { return t.End > t.Start || t.Text == "" }) {
		return nil
	}
	return Faultf(BadOffset, "all %d tokens have empty spans, the first from byte %d to %d: the file has no byte offsets",
		len(r.Tokens), r.Tokens[0].Start, r.Tokens[0].End)
}

// checkUsable verifies what later steps need of a record: words in its question and text, a URL and, in dev, a
// document_title, which NCI's key is derived from.
func checkUsable(r *Record) error {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	switch {
	case blank(r.Question):
		return Faultf(Unusable, "%s is empty", nameQuestion)
	case blank(r.URL):
		return Faultf(Unusable, "%s is empty", nameURL)
	case r.Full() && r.Split == Dev && blank(r.Title):
		return Faultf(Unusable, "%s is empty", nameTitle)
	case r.Full() && !slices.ContainsFunc(r.Tokens, func(t Token) bool { return !t.HTML && !blank(t.Text) }):
		return Faultf(Unusable, "the document has no text: none of its %d tokens is a word", len(r.Tokens))
	case !r.Full() && !hasWords(r.Text):
		return Faultf(Unusable, "the document has no text")
	}
	return nil
}

// hasWords reports whether a text has a piece that is not a tag.
func hasWords(text string) bool {
	for piece := range strings.FieldsSeq(text) {
		if !strings.HasPrefix(piece, "<") || !strings.HasSuffix(piece, ">") {
			return true
		}
	}
	return false
}

// fits reports whether t's span lies in html between code points and does not start before prev >= 0.
func (t *Token) fits(html []byte, prev int32) bool {
	return prev <= t.Start && t.Start <= t.End && int(t.End) <= len(html) &&
		(int(t.Start) == len(html) || utf8.RuneStart(html[t.Start])) &&
		(int(t.End) == len(html) || utf8.RuneStart(html[t.End]))
}

// ExampleID finds the id in a line without decoding it: for messages about bad lines, and for finding one.
func ExampleID(line []byte) (int64, bool) {
	_, rest, ok := bytes.Cut(line, []byte(`"`+nameExampleID+`"`))
	s := scanner{b: rest}
	if !ok || !s.lit(':') {
		return 0, false
	}
	return s.integer()
}
