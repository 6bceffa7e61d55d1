package dedup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/system/lists"
)

// Family is the part of the record that a key is derived from, in the words of tab:dedup-counts.
type Family string

// The families, in the order of the table; Corpus keys are not in it.
const (
	TextDerived  Family = "Text-derived keys"
	URLDerived   Family = "URL-derived key"
	TitleDerived Family = "Title-derived keys"
	PageIdentity Family = "Page-identity key"
	CorpusText   Family = "Corpus-text key"
)

// Key is one comparison operator: two snapshots are the same document if and only if their key strings are equal.
type Key struct {
	Name   string // as typed in HCL
	Label  string // as printed in the paper
	Family Family
	Doc    string // the compared value, in one sentence
	Needs  Needs  // what Sources must hold

	// derive appends the key string. Equal strings mean equal documents.
	derive func(dst []byte, d *derived) ([]byte, error)

	Heading bool // the key of a record, at least of train, is its heading
}

// Needs names the functions of Sources that a key calls.
type Needs uint8

// The functions that keys call.
const (
	NeedsBert Needs = 1 << iota
	NeedsPageID
	NeedsText
)

// keys is the registry: the ten rows of tab:dedup-counts in its order, then corpus_text.
var keys = []Key{
	{Name: "text4k_cased", Label: "Text4K-Cased", Family: TextDerived,
		Doc:    "first 4,000 code points of the simplified text",
		derive: func(dst []byte, d *derived) ([]byte, error) { return appendDigest(dst, d.h.Text4KCased) }},
	{Name: "text4k", Label: "Text4K", Family: TextDerived,
		Doc:    "the same prefix, lower-cased after it was cut (DSI)",
		derive: func(dst []byte, d *derived) ([]byte, error) { return appendDigest(dst, d.h.Text4K) }},
	{Name: "url", Label: "URL", Family: URLDerived,
		Doc:    "document_url as stored, with its oldid (Ultron)",
		derive: func(dst []byte, d *derived) ([]byte, error) { return append(dst, d.h.URL...), nil }},
	{Name: "url_title_cased", Label: "URLTitle-Cased", Family: TitleDerived,
		Doc:    "title= of the URL, unescaped, '+' read as blank, percent-decoded twice, '_' read as blank",
		derive: func(dst []byte, d *derived) ([]byte, error) { return d.urlTitle(dst, false) }},
	{Name: "url_title", Label: "URLTitle", Family: TitleDerived,
		Doc:    "the same title, lower-cased",
		derive: func(dst []byte, d *derived) ([]byte, error) { return d.urlTitle(dst, true) }},
	{Name: "h1_cased", Label: "H1-Cased", Family: TitleDerived,
		Doc:    "stored tokens between the first <H1> and </H1>, joined by one blank; without <H1> the empty string",
		derive: func(dst []byte, d *derived) ([]byte, error) { return append(dst, d.h.H1...), nil }, Heading: true},
	{Name: "h1", Label: "H1", Family: TitleDerived,
		Doc:    "the same heading, lower-cased",
		derive: func(dst []byte, d *derived) ([]byte, error) { return append(dst, pytext.Lower(d.h.H1)...), nil }, Heading: true},
	{Name: "nci_h1", Label: "NciH1", Family: TitleDerived, Needs: NeedsBert,
		Doc:    "BERT tokenize-and-decode of the lower-cased heading, in both splits",
		derive: func(dst []byte, d *derived) ([]byte, error) { return d.bert(dst, pytext.Lower(d.h.H1)), nil }, Heading: true},
	{Name: "title", Label: "Title", Family: TitleDerived, Needs: NeedsBert,
		Doc:    "BERT tokenize-and-decode of the heading in train and of document_title, else the URL's title, in dev (NCI)",
		derive: func(dst []byte, d *derived) ([]byte, error) { return d.nciTitle(dst) }, Heading: true},
	{Name: "page_id", Label: "PageID", Family: PageIdentity, Needs: NeedsPageID,
		Doc:    "the page that the dump names for the URL's oldid; unresolved revisions fall back to a title in a key space of its own",
		derive: func(dst []byte, d *derived) ([]byte, error) { return d.pageKey(dst) }},
	{Name: "corpus_text", Label: "Corpus text", Family: CorpusText, Needs: NeedsText,
		Doc:    "digest of the record's text in any serialized corpus, cut and cased by the caller",
		derive: func(dst []byte, d *derived) ([]byte, error) { return d.corpusText(dst) }},
}

// Names returns the names of all operators.
func Names() []string {
	return lists.Map(keys, func(k Key) string { return k.Name })
}

// Lookup returns the operator of that name.
func Lookup(name string) (Key, error) {
	if i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); i >= 0 {
		return keys[i], nil
	}
	return Key{}, fmt.Errorf("there is no deduplication key %q; the keys are %s", name, strings.Join(Names(), ", "))
}

// Fallback is the value that page_id compares for a revision without a page: the paper names "titles" and the URL title.
type Fallback string

// The fallbacks. Except FallbackFail they prefix "t:", so that an unresolved record never merges with a resolved page.
const (
	FallbackURLTitleCased Fallback = "url_title_cased" // as the query has it: wikipedia.QueryTitle; default
	FallbackURLTitle      Fallback = "url_title"       // lower-cased
	FallbackTitle         Fallback = "title"           // NCI's split-dependent title
	FallbackFail          Fallback = "fail"            // an unresolved record is an error
)

// Representative says whose text stands for a document; the paper leaves it open. Ties go to the earlier record.
type Representative string

// The rules for choosing a snapshot.
const (
	First       Representative = "first"        // first record in RecordOrder; default
	Last        Representative = "last"         // last record in that order
	NewestOldID Representative = "newest_oldid" // greatest revision id
	OldestOldID Representative = "oldest_oldid" // smallest revision id
	LongestText Representative = "longest_text" // greatest Text.Length; needs Sources.Text
)

// RecordOrder is the split that comes first, then file order: it numbers documents. The paper leaves it open.
type RecordOrder string

// The orders of records.
const (
	DevFirst   RecordOrder = "dev_first"   // as the paper's released code; default
	TrainFirst RecordOrder = "train_first" // as NCI
)

// Splits returns both splits in that order.
func (o RecordOrder) Splits() [2]nq.Split {
	if o == TrainFirst {
		return [2]nq.Split{nq.Train, nq.Dev}
	}
	return [2]nq.Split{nq.Dev, nq.Train}
}

// Options are the choices that the paper leaves open. The zero value is the documented default of each.
type Options struct {
	RecordOrder    RecordOrder
	Representative Representative
	Fallback       Fallback
}

func (o Options) withDefaults() Options {
	return Options{cmp.Or(o.RecordOrder, DevFirst), cmp.Or(o.Representative, First), cmp.Or(o.Fallback, FallbackURLTitleCased)}
}
