package dedup

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// Sources are grouping's inputs from other domains. Set the functions that the keys and options need; PageID, where set,
// also describes the documents of other keys and feeds the diagnostics.
type Sources struct {
	// BertNormalize is NCI's tokenize-and-decode with bert-base-uncased.
	BertNormalize func(string) string
	// PageID is the page of a revision, false where the dump does not have it.
	PageID func(oldid uint64) (uint64, bool)
	// Text is the record's text in a serialized corpus, false where it has none.
	Text func(h *nq.Header) (Text, bool)
}

// Text identifies a text without holding it.
type Text struct {
	Digest [16]byte // see TextDigest
	Length int      // code points of the text, uncut
}

func (s *Sources) check(k Key, o Options) error {
	needs := k.Needs
	if needs&NeedsPageID != 0 && o.Fallback == FallbackTitle {
		needs |= NeedsBert
	}
	if o.Representative == LongestText {
		needs |= NeedsText
	}
	for _, n := range []struct {
		need Needs
		have bool
		what string
	}{
		{NeedsBert, s.BertNormalize != nil, "BertNormalize"},
		{NeedsPageID, s.PageID != nil, "PageID"},
		{NeedsText, s.Text != nil, "Text"},
	} {
		if needs&n.need != 0 && !n.have {
			return fmt.Errorf("key %s with representative %s and fallback %s needs Sources.%s, which is not set",
				k.Name, o.Representative, o.Fallback, n.what)
		}
	}
	return nil
}

// RecordError names the record whose key could not be derived.
type RecordError struct {
	Key       string // name of the operator
	ExampleID int64
	Split     nq.Split
	URL       string
	Err       error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("key %s of %s example %d (%s): %v", e.Key, e.Split, e.ExampleID, e.URL, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// The faults of a record; each is wrapped in a RecordError.
var (
	ErrNoTextKey  = errors.New("the header has no text key; extract the records again with text keys")
	ErrNoTitle    = errors.New("a dev record with neither document_title nor a title in its URL; use nci_h1")
	ErrNoText     = errors.New("the corpus has no text for this record")
	ErrNoURLTitle = errors.New("the URL has no title= parameter")
	ErrNotUTF8    = errors.New("the key is not valid UTF-8")
	ErrNoPage     = errors.New("the revision has no page and the fallback is \"fail\"")
)

// derived holds values that several keys of one record share, each computed once.
type derived struct {
	h *nq.Header
	s *Sources
	o *Options

	scratch []byte

	title       string // in the URL
	titled      bool   // the URL has a title
	oldid, page uint64 // 0: none
}

func (d *derived) reset(h *nq.Header) {
	d.h, d.page = h, 0
	d.title, d.titled = wikipedia.URLTitle(h.URL)
	d.oldid, _ = wikipedia.OldID(h.URL)
	if d.oldid != 0 && d.s.PageID != nil {
		if page, ok := d.s.PageID(d.oldid); ok {
			d.page = page
		}
	}
}

// appendKey returns a key string in a buffer that the next call reuses.
func (d *derived) appendKey(k *Key) ([]byte, error) {
	b, err := k.derive(d.scratch[:0], d)
	if err == nil && !utf8.Valid(b) {
		err = ErrNotUTF8
	}
	if err != nil {
		return nil, &RecordError{Key: k.Name, ExampleID: d.h.ExampleID, Split: d.h.Split, URL: d.h.URL, Err: err}
	}
	d.scratch = b
	return b, nil
}

func appendDigest(dst []byte, key [16]byte) ([]byte, error) {
	if key == ([16]byte{}) {
		return nil, ErrNoTextKey
	}
	return hex.AppendEncode(dst, key[:]), nil
}

func (d *derived) corpusText(dst []byte) ([]byte, error) {
	t, ok := d.s.Text(d.h)
	if !ok {
		return nil, ErrNoText
	}
	return hex.AppendEncode(dst, t.Digest[:]), nil
}

// named is document_title or, in the simplified format, the title in the URL.
func (d *derived) named() string { return cmp.Or(d.h.Title, d.title) }

func (d *derived) urlTitle(dst []byte, lower bool) ([]byte, error) {
	t := d.title
	if !d.titled {
		return nil, ErrNoURLTitle
	}
	if lower {
		t = pytext.Lower(t)
	}
	return append(dst, t...), nil
}

func (d *derived) bert(dst []byte, text string) []byte {
	return append(dst, d.s.BertNormalize(text)...)
}

// nciTitle is NCI's title, which its code derives differently in train and dev; without document_title, the URL's title.
func (d *derived) nciTitle(dst []byte) ([]byte, error) {
	if d.h.Split != nq.Dev {
		return d.bert(dst, d.h.H1), nil
	}
	if title := d.named(); title != "" {
		return d.bert(dst, title), nil
	}
	return nil, ErrNoTitle
}

func (d *derived) pageKey(dst []byte) ([]byte, error) {
	if d.page != 0 {
		return strconv.AppendUint(dst, d.page, 10), nil
	}
	dst = append(dst, "t:"...)
	switch d.o.Fallback {
	case FallbackURLTitle:
		return d.urlTitle(dst, true)
	case FallbackTitle:
		return d.nciTitle(dst)
	case FallbackFail:
		return nil, ErrNoPage
	}
	t, ok := wikipedia.QueryTitle(d.h.URL)
	if !ok {
		return nil, ErrNoURLTitle
	}
	return append(dst, t...), nil
}
