package serialize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// Tools are the functions of tokenizers that the forms need.
type Tools struct {
	// HasUnknown reports <unk> in T5's tokens of s, special ones aside; HtmlNorm needs it unless Pronunciation is "keep".
	HasUnknown func(s string) bool
	// BertNormalize decodes bert-base-uncased's tokens of a title; NciNorm needs it if NCINormalizeTitle is set.
	BertNormalize func(s string) string
}

// Text is one serialized document. The simplified forms set Body; SimpleNorm all three parts, as NciNorm does with
// NCIContent; NciNorm Title and Abstract; HtmlNorm Title and Body.
type Text struct {
	Title    string
	Abstract string
	Body     string
	Removed  Removed

	text string
}

// String is the document as one string, as the model reads it.
func (t Text) String() string { return t.text }

// Serializer writes documents in one form. It may be used by several goroutines at once if its Tools may.
type Serializer struct {
	form  Form
	o     Options
	tools Tools
	rules *rules
	pool  sync.Pool // *scanner
}

// New checks the tools that the form needs; the tags of Options say what values they have.
func New(form Form, o Options, tools Tools) (*Serializer, error) {
	if !slices.Contains(Forms, form) {
		return nil, fmt.Errorf("serialize: no form %q; use one of %v", form, Forms)
	}
	if form == NciNorm && o.NCINormalizeTitle && tools.BertNormalize == nil {
		return nil, errors.New("serialize: nci_normalize_title needs a BERT tokenizer")
	}
	if form.NeedsUnknown(o) && tools.HasUnknown == nil {
		return nil, errors.New(`serialize: htmlnorm needs a T5 tokenizer to find pronunciations; give one, or set pronunciation = "keep"`)
	}
	s := &Serializer{form: form, o: o, tools: tools, rules: compile(o)}
	s.pool.New = func() any { return newScanner(s.rules) }
	return s, nil
}

// NeedsUnknown reports whether a form needs Tools.HasUnknown.
func (f Form) NeedsUnknown(o Options) bool { return f == HtmlNorm && o.Pronunciation == "remove" }

// Document serializes a record of either format, for HtmlNorm a full one. The result shares no memory with r.
func (s *Serializer) Document(r *nq.Record) (Text, error) {
	switch {
	case s.form != HtmlNorm && !r.Full() && r.Text == "":
		return Text{}, fmt.Errorf("serialize: example %d has neither document_text nor document_tokens", r.ExampleID)
	case s.form == SimplifiedTags:
		text := r.SimplifiedText()
		return Text{Body: text, text: text}, nil
	case s.form == Simplified:
		return simplified(r), nil
	case s.form == SimpleNorm, s.form == NciNorm:
		return s.nci(r), nil
	case !r.Full():
		return Text{}, fmt.Errorf("serialize: example %d: htmlnorm needs the full format (document_html and document_tokens); this record has document_text only", r.ExampleID)
	case len(r.HTML) == 0:
		return Text{}, fmt.Errorf("serialize: example %d has tokens but no document_html", r.ExampleID)
	}
	return s.htmlNorm(r), nil
}

// htmlNorm follows the paper's appendix.
func (s *Serializer) htmlNorm(r *nq.Record) Text {
	sc := s.pool.Get().(*scanner)
	defer s.pool.Put(sc)
	sc.scan(r)
	w := &sc.out
	w.reset()
	title := w.title(r.Title)
	w.flow(root)
	w.flush()
	w.endSection()
	var b strings.Builder
	b.Grow(len(title) + 1 + len(w.buf))
	b.WriteString(title)
	if title != "" && len(w.buf) > 0 {
		b.WriteByte('\n')
	}
	b.Write(w.buf)
	t, titleGone := Text{Removed: sc.removed, text: b.String()}, false
	if s.o.Pronunciation == "remove" {
		t.text, t.Removed.Pronunciation, titleGone = s.dropPronunciations(t.text, title)
	}
	if title == "" || titleGone {
		t.Body = t.text
	} else {
		t.Title, t.Body, _ = strings.Cut(t.text, "\n")
	}
	return t
}
