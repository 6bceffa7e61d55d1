package nq

import (
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Header is a record's light half, all that grouping, resolution and query lists need: some 300 bytes of 150 KB.
// Extraction writes one per record, in record order, so that dedup never reads page text.
type Header struct {
	ExampleID int64  `json:"example_id"`
	Split     Split  `json:"split"`
	Question  string `json:"question"`
	URL       string `json:"url"`             // as stored, HTML-escaped
	Title     string `json:"title,omitempty"` // document_title; "" in the simplified format
	H1        string `json:"h1,omitempty"`    // stored tokens between the first <H1> and </H1>, joined by one blank
	HasH1     bool   `json:"has_h1,omitempty"`

	// The first 16 bytes of SHA-256 over the first 4,000 code points of the simplified text, with or without tags: as it
	// is, and lower-cased (paper, "Comparison Operators").
	Text4KCased [16]byte `json:"-"`
	Text4K      [16]byte `json:"-"`
}

// HeaderOf returns the header of r without its text keys, which the caller sets.
//
// The heading is the text between the first <H1> and the next </H1>, joined by one blank and stripped: the stored tokens of
// a full record, and the pieces of a simplified record's document_text between single blanks (U+0020), where "_" stands for
// a blank inside a token. HasH1 is false without both tags.
func HeaderOf(r *Record) Header {
	h := Header{ExampleID: r.ExampleID, Split: r.Split, Question: r.Question, URL: r.URL, Title: r.Title}
	if r.Full() {
		h.H1, h.HasH1 = headingOfTokens(r.Tokens)
	} else {
		h.H1, h.HasH1 = headingOfText(r.Text)
	}
	return h
}

func headingOfTokens(tokens []Token) (string, bool) {
	first := slices.IndexFunc(tokens, func(t Token) bool { return t.HTML && t.Text == "<H1>" })
	if first < 0 {
		return "", false
	}
	n := slices.IndexFunc(tokens[first:], func(t Token) bool { return t.HTML && t.Text == "</H1>" })
	if n < 0 {
		return "", false
	}
	words := lists.Map(tokens[first+1:first+n], func(t Token) string { return t.Text })
	return strings.TrimSpace(strings.Join(words, " ")), true
}

// headingOfText finds tags between blanks: "a<H1>" is a word. It copies nothing, and reads only as far as the heading.
func headingOfText(text string) (string, bool) {
	at, from := 0, -1
	for piece := range strings.SplitSeq(text, " ") {
		switch {
		case from < 0 && piece == "<H1>":
			from = at + len(piece)
		case from >= 0 && piece == "</H1>":
			return strings.TrimSpace(text[from:at]), true
		}
		at += len(piece) + 1
	}
	return "", false
}
