package collection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

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
	Check: inout.Checks(func(c dedupConfig, ps *step.Problems) {
		k, err := dedup.Lookup(c.Key)
		inout.CheckError(ps, "key", err)
		byPage, byTitle := k.Needs&dedup.NeedsPageID != 0, k.Needs&dedup.NeedsBert != 0
		inout.Check(ps, "pages", !byPage || c.Pages.Set(), "is needed by key %s", c.Key)
		inout.Check(ps, "tokenizer", !byTitle || len(c.Tokenizer) > 0, "is needed by key %s", c.Key)
		inout.Check(ps, "tokenizer", !byPage || c.Fallback != string(dedup.FallbackTitle) || len(c.Tokenizer) > 0, "is needed by fallback title")
		byText := k.Needs&dedup.NeedsText != 0 || c.Representative == string(dedup.LongestText)
		inout.Check(ps, "texts", !byText || c.Texts.Set(), "is needed by key corpus_text and by representative longest_text")
	}),
	Work: func(c dedupConfig) step.Work { // at most: as the paper's largest, or a document for each record
		records := func(of step.Inputs) step.Amount { return step.Amount{Times: 1, Of: of, Count: "records"} }
		all := records(slices.Concat(c.Train, c.Dev))
		all.AtMost = rates.Documents
		w := step.Work{Counts: map[string]step.Amount{"documents": all, "records.train": records(c.Train)}}
		if len(c.Dev) > 0 {
			w.Counts["records.dev"] = records(c.Dev)
		}
		return w
	},
	Run: runDedup,
})

// dedupCounts is the JSON that table cells read.
type dedupCounts struct {
	Records   dedup.Counts      `json:"records"`
	Documents dedup.Counts      `json:"documents"`
	Coverage  dedup.Coverage    `json:"coverage"`
	Resolved  *dedup.Resolution `json:"resolution,omitempty"`
	Headless  *int              `json:"records_without_heading,omitempty"` // which are one document; for keys of headings
}

func runDedup(ctx context.Context, x *step.IO, c dedupConfig) error {
	src, err := dedupSources(x, c.Tokenizer, c.Pages)
	if err != nil {
		return err
	}
	texts := map[nq.Key]dedup.Text{} // some 100 bytes a record: the texts themselves are not held
	if c.Texts.Set() {
		if err := readTexts(ctx, x, c, texts); err != nil {
			return err
		}
		src.Text = func(h *nq.Header) (dedup.Text, bool) {
			text, ok := texts[nq.Key{Split: h.Split, ID: h.ExampleID}]
			return text, ok
		}
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

// grouped groups the records of both splits by keys, whose names have been checked, in one pass.
func grouped(x *step.IO, train, dev step.Inputs, src dedup.Sources, o dedup.Options, names ...string) ([]*dedup.Grouping, error) {
	var keys []dedup.Key
	for _, name := range names {
		k, _ := dedup.Lookup(name)
		keys = append(keys, k)
	}
	g, err := dedup.NewGrouper(x.Scratch, keys, o, src)
	if err != nil {
		return nil, step.Permanent(err)
	}
	n := int64(0)
	of := map[nq.Split]step.Inputs{nq.Train: train, nq.Dev: dev}
	for _, split := range o.RecordOrder.Splits() {
		err := eachHeader(x, of[split], func(h *nq.Header) error {
			if h.Split != split {
				return step.Permanent(fmt.Errorf("%s: example %d is of %s: give the headers of an extract step with split = %q", split, h.ExampleID, h.Split, split))
			}
			if n++; n%10_000 == 0 {
				x.Report(step.Progress{Done: n, Unit: "records"})
			}
			return step.Permanent(g.Add(h))
		})
		if err != nil {
			return nil, err
		}
	}
	groups, err := g.Groupings()
	return groups, permanentIf(err, dedup.ErrRepeated)
}

// permanentIf marks the one error that lies in the data as permanent; any other is the disk's.
func permanentIf(err, data error) error {
	if errors.Is(err, data) {
		return step.Permanent(err)
	}
	return err
}

// bertNormalize returns the normalization of titles by the tokenizer of an attribute; nil without one.
func bertNormalize(x *step.IO, in step.Inputs, attribute string) (func(string) string, error) {
	if len(in) == 0 {
		return nil, nil
	}
	bert, err := inout.OpenTokenizer(x, in, attribute, tokenize.LoadBERT)
	return bert.Normalize, err
}

// dedupSources loads what the key needs from other domains.
func dedupSources(x *step.IO, tokenizer step.Inputs, pages step.Input) (s dedup.Sources, err error) {
	if s.BertNormalize, err = bertNormalize(x, tokenizer, "tokenizer"); err != nil || !pages.Set() {
		return s, err
	}
	table, err := readPages(x, pages, "pages")
	s.PageID = func(oldid uint64) (uint64, bool) {
		e, ok := table.Lookup(oldid)
		return e.PageID, ok
	}
	return s, err
}

func writeGrouping(x *step.IO, g *dedup.Grouping, resolved bool) error {
	err := inout.WriteAll(x, map[string]func(io.Writer) error{"documents": g.WriteDocuments, "queries": g.WriteQueries, "unresolved": g.WriteAudit})
	if err != nil {
		return err
	}
	rec := g.Records
	counts := dedupCounts{Records: dedup.Counts{Train: rec.Count(nq.Train), Dev: rec.Count(nq.Dev), Union: rec.Len()},
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

// readTexts reads the digest and the length of each record's text, in any order.
func readTexts(ctx context.Context, x *step.IO, c dedupConfig, texts map[nq.Key]dedup.Text) error {
	return inout.EachDocument(ctx, x, c.Texts, func(d *corpus.Document) error {
		key := nq.Key{Split: nq.Split(d.Split), ID: d.ExampleID}
		if d.Split == "" {
			return step.Permanent(fmt.Errorf("texts: document %d names no record: serialize without documents", d.Doc))
		}
		if _, ok := texts[key]; ok {
			return step.Permanent(fmt.Errorf("texts: %s example %d has two: serialize the records of each extract step once", key.Split, key.ID))
		}
		texts[key] = dedup.Text{Digest: dedup.TextDigest(d.Text, c.TextLimit, !c.TextCased), Length: utf8.RuneCountInString(d.Text)}
		return nil
	})
}

type diagnoseConfig struct {
	Train       step.Inputs `hcl:"train" accepts:"nq/headers" help:"headers of the training records"`
	Dev         step.Inputs `hcl:"dev" accepts:"nq/headers" help:"headers of the development records"`
	Pages       step.Input  `hcl:"pages" accepts:"wikipedia/pages" help:"revisions and their PageIDs"`
	Tokenizer   step.Inputs `hcl:"tokenizer,optional" accepts:"files" help:"bert-base-uncased tokenizer.json; needed by title and nci_h1"`
	RecordOrder string      `hcl:"record_order,optional" enum:"dev_first,train_first" help:"which split's records come first: an example shows the first record of each name"`
	Key         string      `hcl:"key,optional" enum:"url_title_cased,url_title,h1_cased,h1,nci_h1,title" help:"operator to diagnose"`
	Examples    int         `hcl:"examples,optional" help:"how many examples of each kind to keep"`
	Fragment    string      `hcl:"fragment,optional" help:"a title whose fragmented page the table shows; default: the first found"`
	Collision   string      `hcl:"collision,optional" help:"a title whose collision the table shows; default: the first found"`
}

var Diagnose = step.Define(step.Kind[diagnoseConfig]{
	Name:    "dedup_diagnostics",
	Version: 2,
	Doc: `Count what grouping by title does to pages (section "Qualitative Analysis of NQ320K").
Fragmented pages, titles that several pages share, affected queries, supervision
coverage, and examples for tab:title-grouping-examples and
tab:shared-title-revision-variation. An example asked for that the records do not
have is counted and reported as absent; the numbers do not depend on it.`,
	Example: `step "dedup_diagnostics" "nq" {
  train     = step.extract.train.headers
  dev       = step.extract.dev.headers
  pages     = step.pages.nq.table
  tokenizer = step.download.bert_tokenizer.files
  fragment  = "Elsa (Disney)"
}`,
	Outputs:  []step.Output{{Name: "report", Type: "dedup/diagnostics", Help: "dedup.Diagnostics, with the chosen examples, as JSON", Fields: step.FieldsOf[diagnosis]()}},
	Defaults: diagnoseConfig{RecordOrder: string(dedup.DevFirst), Key: "title", Examples: 20},
	Run: func(_ context.Context, x *step.IO, c diagnoseConfig) error {
		src, err := dedupSources(x, c.Tokenizer, c.Pages)
		if err != nil {
			return err
		}
		groups, err := grouped(x, c.Train, c.Dev, src, dedup.Options{RecordOrder: dedup.RecordOrder(c.RecordOrder)}, c.Key, "page_id")
		if err != nil {
			return err
		}
		title, page := groups[0], groups[1]
		var d diagnosis
		if d.Diagnostics, err = dedup.Diagnose(title, page, c.Examples); err != nil {
			return step.Permanent(err)
		}
		d.SharedTitles = dedup.SharedTitles(title)
		d.SharedTitles = d.SharedTitles[:min(c.Examples, len(d.SharedTitles))]
		t, err := dedup.DiagnoseTitles(title)
		if err != nil {
			return step.Permanent(err)
		}
		d.Fragment = chosen(x, c.Fragment, d.Fragments, t.Fragment)
		d.Collision = chosen(x, c.Collision, d.Collisions, t.Collision)
		return inout.WriteReport(x, d, map[string]int{"fragmented_pages": d.FragmentedPages,
			"colliding_pages": d.CollidingPages})
	},
})

// diagnosis is the report: the numbers, and the examples that tables print.
type diagnosis struct {
	dedup.Diagnostics
	Fragment     *inout.Example[dedup.Fragment]  `json:"fragment"` // null: no page is fragmented
	Collision    *inout.Example[dedup.Collision] `json:"collision"`
	SharedTitles []dedup.SharedTitle             `json:"shared_titles"`
}

// chosen returns the example that a title names or, without a title, the first; nil if there is none.
func chosen[T any](x *step.IO, title string, all []T, find func(title string) (T, error)) *inout.Example[T] {
	if title == "" {
		if len(all) == 0 {
			return nil
		}
		return new(inout.ExampleOf(x, all[0], nil))
	}
	v, err := find(title)
	return new(inout.ExampleOf(x, v, err))
}
