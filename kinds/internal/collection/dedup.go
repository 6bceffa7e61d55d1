package collection

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// dedupConfig groups records into documents.
type dedupConfig struct {
	Train          step.Inputs `hcl:"train" accepts:"nq/headers" help:"headers of the training records"`
	Dev            step.Inputs `hcl:"dev,optional" accepts:"nq/headers" help:"headers of the development records"`
	Key            string      `hcl:"key" enum:"text4k_cased,text4k,url,url_title_cased,url_title,h1_cased,h1,nci_h1,title,page_id,corpus_text" help:"comparison operator: when two snapshots are one document; corpus_text compares texts"`
	Pages          step.Input  `hcl:"pages,optional" accepts:"wikipedia/pages" help:"revisions and their PageIDs; needed by page_id and by the audit of resolution"`
	Tokenizer      step.Inputs `hcl:"tokenizer,optional" accepts:"files" help:"bert-base-uncased tokenizer.json, plain or compressed; needed by nci_h1, title and fallback title"`
	Texts          step.Input  `hcl:"texts,optional" accepts:"nq/corpus" help:"the text of every record, from a serialize step without documents that read the same extract steps, in any order; needed by corpus_text and longest_text"`
	TextLimit      int         `hcl:"text_limit,optional" min:"0" help:"code points of a text that corpus_text compares; 0: all"`
	TextCased      bool        `hcl:"text_cased,optional" help:"whether corpus_text tells upper from lower case"`
	RecordOrder    string      `hcl:"record_order,optional" enum:"dev_first,train_first" help:"which split's records come first: documents are numbered by their first record; the paper does not say, its released code reads dev first, NCI train"`
	Representative string      `hcl:"representative,optional" enum:"first,last,newest_oldid,oldest_oldid,longest_text" help:"which snapshot's text stands for a document, first and last in record_order; the paper does not say, its released code and NCI take the first"`
	Fallback       string      `hcl:"fallback,optional" enum:"url_title_cased,url_title,title,fail" help:"for page_id: key of a record whose revision has no page; such keys never equal a page's"`
}

var Dedup = step.Define(step.Kind[dedupConfig]{
	Name:    "dedup",
	Version: 3,
	Doc: `Group records into documents by one of the ten operators of tab:dedup-counts.
An eleventh, corpus_text, compares the texts of any serialization. Documents are
numbered in order of first occurrence, record_order says in which: by default dev
before train, files by name. Reads headers only. Records wait on disk, 0.3 KB each, and are
compared in part after part: beside pages and texts, memory is 4 bytes a record and 12 a document,
and 315,203 records take seconds.`,
	Example: `step "dedup" "page_id" {
  train = step.extract.train.headers
  dev   = step.extract.dev.headers
  pages = step.pages.nq.table
  key   = "page_id"
}`,
	Outputs: []step.Output{
		{Name: "documents", Type: "nq/documents", Help: "documents.jsonl.zst: one line per document with the snapshot that represents it"},
		{Name: "queries", Type: "nq/queries", Help: "queries.jsonl.zst: every question and its document"},
		{Name: "counts", Type: "dedup/counts", Help: "JSON: records, documents and resolution, by split and union; records without heading, for the keys of headings", Fields: step.FieldsOf[dedupCounts]()},
		{Name: "unresolved", Type: "dedup/unresolved", Help: "unresolved.jsonl.zst: records whose revision has no page"},
	},
	Defaults: dedupConfig{TextLimit: dedup.TextLimit, RecordOrder: string(dedup.DevFirst), Representative: string(dedup.First), Fallback: string(dedup.FallbackURLTitleCased)},
	Check: func(c dedupConfig) error {
		k, err := dedup.Lookup(c.Key)
		if err != nil {
			return step.Problems{{Path: "key", Detail: err.Error()}}
		}
		var ps step.Problems
		inout.Check(&ps, "pages", k.Needs&dedup.NeedsPageID == 0 || c.Pages.Set(), "is needed by key %s", c.Key)
		if len(c.Tokenizer) == 0 {
			switch {
			case k.Needs&dedup.NeedsBert != 0:
				ps = append(ps, step.Problem{Path: "tokenizer", Detail: "is needed by key " + c.Key})
			case k.Needs&dedup.NeedsPageID != 0 && c.Fallback == string(dedup.FallbackTitle):
				ps = append(ps, step.Problem{Path: "tokenizer", Detail: "is needed by fallback title"})
			}
		}
		byText := k.Needs&dedup.NeedsText != 0 || c.Representative == string(dedup.LongestText)
		inout.Check(&ps, "texts", c.Texts.Set() || !byText, "is needed by key corpus_text and by representative longest_text")
		return ps.Err()
	},
	Work: dedupConfig.work,
	Run:  runDedup,
})

// dedupCounts is the JSON that table cells read.
type dedupCounts struct {
	Records   dedup.Counts      `json:"records"`
	Documents dedup.Counts      `json:"documents"`
	Coverage  dedup.Coverage    `json:"coverage"`
	Resolved  *dedup.Resolution `json:"resolution,omitempty"`
	Headless  *int              `json:"records_without_heading,omitempty"` // of keys of headings: these records are one document
}

func runDedup(ctx context.Context, x *step.IO, c dedupConfig) error {
	src, err := dedupSources(x, c)
	if err != nil {
		return err
	}
	var texts recordTexts
	if c.Texts.Set() {
		if texts, err = readTexts(ctx, x, c); err != nil {
			return err
		}
		src.Text = texts.of
	}
	groups, err := grouped(x, c.Train, c.Dev, src, dedup.Options{RecordOrder: dedup.RecordOrder(c.RecordOrder),
		Representative: dedup.Representative(c.Representative), Fallback: dedup.Fallback(c.Fallback)}, c.Key)
	if err != nil {
		return err
	}
	g := groups[0]
	if c.Texts.Set() && len(texts) != g.Records.Len() {
		return step.Permanent(fmt.Errorf("texts: there are %d, of %d records: serialize the records of the same extract steps, without documents", len(texts), g.Records.Len()))
	}
	return writeGrouping(x, g, c.Pages.Set())
}

// grouped groups the records of both splits by keys in one pass.
func grouped(x *step.IO, train, dev step.Inputs, src dedup.Sources, o dedup.Options, names ...string) ([]*dedup.Grouping, error) {
	var keys []dedup.Key
	for _, name := range names {
		k, err := dedup.Lookup(name)
		if err != nil {
			return nil, step.Permanent(err)
		}
		keys = append(keys, k)
	}
	g, err := dedup.NewGrouper(x.Scratch, keys, o, src)
	if err != nil {
		return nil, step.Permanent(err)
	}
	n := int64(0)
	err = eachHeaderInOrder(x, o.RecordOrder, train, dev, func(h *nq.Header) error {
		if n++; n%10_000 == 0 {
			x.Report(step.Progress{Done: n, Unit: "records"})
		}
		return step.Permanent(g.Add(h))
	})
	if err != nil {
		return nil, err
	}
	groups, err := g.Groupings()
	return groups, permanentIfRepeated(err)
}

// permanentIfRepeated marks the error of making groupings that lies in the records, not in the disk.
func permanentIfRepeated(err error) error {
	if errors.Is(err, dedup.ErrRepeated) {
		return step.Permanent(err)
	}
	return err
}

// eachHeaderInOrder reads the headers of both splits, those first that the order says,
// and refuses a header of the other split.
func eachHeaderInOrder(x *step.IO, order dedup.RecordOrder, train, dev step.Inputs, f func(*nq.Header) error) error {
	of := map[nq.Split]step.Inputs{nq.Train: train, nq.Dev: dev}
	for _, split := range order.Splits() {
		err := eachHeader(x, of[split], func(h *nq.Header) error {
			if h.Split != split {
				return step.Permanent(fmt.Errorf("%s: example %d is of %s: give the headers of an extract step with split = %q", split, h.ExampleID, h.Split, split))
			}
			return f(h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bertNormalize is what the tokenizer of an attribute makes of a title; nil if there is none.
func bertNormalize(x *step.IO, in step.Inputs, attribute string) (func(string) string, error) {
	if len(in) == 0 {
		return nil, nil
	}
	bert, err := inout.OpenTokenizer(x, in, attribute, tokenize.LoadBERT)
	if err != nil {
		return nil, err
	}
	return bert.Normalize, nil
}

// dedupSources loads what the key needs from other domains.
func dedupSources(x *step.IO, c dedupConfig) (dedup.Sources, error) {
	var s dedup.Sources
	var err error
	if s.BertNormalize, err = bertNormalize(x, c.Tokenizer, "tokenizer"); err != nil {
		return s, err
	}
	if c.Pages.Set() {
		table, err := readPages(x, c.Pages, "pages")
		if err != nil {
			return s, err
		}
		s.PageID = func(oldid uint64) (uint64, bool) {
			e, ok := table.Lookup(oldid)
			return e.PageID, ok
		}
	}
	return s, nil
}

func writeGrouping(x *step.IO, g *dedup.Grouping, resolved bool) error {
	err := inout.WriteAll(x, map[string]func(io.Writer) error{"documents": g.WriteDocuments, "queries": g.WriteQueries, "unresolved": g.WriteAudit})
	if err != nil {
		return err
	}
	rec := g.Records
	counts := dedupCounts{Records: dedup.Counts{Train: rec.Train(), Dev: rec.Dev(), Union: rec.Len()},
		Documents: g.Counts(), Coverage: g.Coverage()}
	if resolved {
		r := rec.Resolution()
		counts.Resolved = &r
		inout.Count(x, map[string]int{"unresolved_records": r.UnresolvedRecords, "records_without_revision": r.NoRevision})
	}
	inout.Count(x, map[string]int{"records": rec.Len(), "documents": counts.Documents.Union})
	if g.Key.Heading {
		n := g.Empty()
		counts.Headless = &n
		x.Count("records_without_heading", int64(n))
	}
	return inout.WriteJSON(x, "counts", counts)
}
