package collection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/serialize"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type serializeConfig struct {
	serializing
	Records step.Inputs `hcl:"records" accepts:"nq/records" help:"records, of all splits that the documents come from"`
}

// serializing is what a serialize step and its parts have in common.
type serializing struct {
	Documents step.Input        `hcl:"documents,optional" accepts:"nq/documents" help:"collection: which snapshot represents each document; default: every record is written, numbered in order"`
	Form      string            `hcl:"form" enum:"simplified_tags,simplified,simplenorm,ncinorm,htmlnorm" help:"serialization"`
	T5        step.Inputs       `hcl:"t5_tokenizer,optional" accepts:"files" help:"T5 tokenizer.json; needed by htmlnorm to find pronunciations"`
	BERT      step.Inputs       `hcl:"bert_tokenizer,optional" accepts:"files" help:"bert-base-uncased tokenizer.json; needed by ncinorm with nci_normalize_title"`
	Options   serialize.Options `hcl:"options,optional" help:"rules, by default the paper's and, where it is silent, its released code's"`
}

// serializeReport says, for cards of data sets, how texts were serialized and what that removed.
type serializeReport struct {
	Form    string            `json:"form"`
	Options serialize.Options `json:"options"`
	serialize.Tally
}

var Serialize = step.Define(step.Kind[serializeConfig]{
	Name:    "serialize",
	Version: 5,
	Doc: `Write the text of every document in one of the four forms of the paper.
simplified, simplenorm, ncinorm and htmlnorm (appendix "HtmlNorm Reconstruction
and Serialization"), or simplified_tags, the text of NQ's simplified format as it
is. One part per records file. Rules that readings of the paper differ in are options; what each removed is
counted in the report. Without documents every record is written, for a dedup by
corpus_text. Cost: about a millisecond per document; memory is bounded.`,
	Example: `step "serialize" "html_norm" {
  records      = [step.extract.train.records, step.extract.dev.records]
  documents    = step.dedup.nq["page_id"].documents
  form         = "htmlnorm"
  t5_tokenizer = step.download.t5_tokenizer.files
  options      = { pronunciation = "keep" }
}`,
	Outputs: []step.Output{
		{Name: "corpus", Type: "nq/corpus", Help: "corpus.jsonl.zst: doc, title, abstract and text, by document number"},
		{Name: "report", Type: "report", Help: "the form, its options and what each rule removed, as JSON", Fields: step.FieldsOf[serializeReport]()},
	},
	Defaults: serializeConfig{serializing: serializing{Options: serialize.Defaults()}},
	Parts:    []step.Spec{SerializeFile.Spec},
	Split: func(_ context.Context, x *step.IO, c serializeConfig) ([]step.Task, error) {
		return taskOfEach(x, c.Records, "nq/records", func(int) string { return "records" }, func(f step.Input, _ string) (step.Task, error) {
			return SerializeFile.Task(SerializeFileConfig{c.serializing, f})
		})
	},
	Run: mergeSerialized,
})

type SerializeFileConfig struct {
	serializing
	Records step.Input `hcl:"records" help:"records@1 stream"`
}

var SerializeFile = step.DefinePart(step.Kind[SerializeFileConfig]{
	Name:    "serialize_file",
	Version: 4,
	Doc:     "One records file of a serialize step.",
	Outputs: []step.Output{
		{Name: "corpus", Type: "nq/corpus", Help: "the documents that this file's records represent"},
		{Name: "report", Type: "report", Help: "serialize.Tally as JSON"},
	},
	Needs: step.Tokenizers,
	Unless: func(c SerializeFileConfig) bool {
		return len(c.T5) == 0 || !serialize.Form(c.Form).NeedsUnknown(c.Options)
	},
	Run: func(ctx context.Context, x *step.IO, c SerializeFileConfig) error {
		return WriteTexts(ctx, x, c, nil)
	},
})

// representatives maps the record that stands for each document to its number; nil without a collection.
func representatives(x *step.IO, in step.Input) (map[nq.Key]int32, error) {
	if !in.Set() {
		return nil, nil
	}
	docs := map[nq.Key]int32{}
	err := inout.EachRow(x, in, "documents", func(d *dedup.Document) error {
		docs[nq.Key{Split: d.Split, ID: d.ExampleID}] = d.Doc
		return nil
	})
	return docs, err
}

// Unknown reports whether T5's tokenization of a text has <unk>. Only the second program has the tokenizer.
type Unknown = func(text string) bool

// serializerTools loads the BERT tokenizer, if there is one.
func serializerTools(x *step.IO, hasUnknown Unknown, bert step.Inputs) (serialize.Tools, error) {
	normalize, err := bertNormalize(x, bert, "bert_tokenizer")
	return serialize.Tools{HasUnknown: hasUnknown, BertNormalize: normalize}, err
}

func WriteTexts(ctx context.Context, x *step.IO, c SerializeFileConfig, hasUnknown Unknown) error {
	docs, err := representatives(x, c.Documents)
	if err != nil {
		return err
	}
	tools, err := serializerTools(x, hasUnknown, c.BERT)
	if err != nil {
		return err
	}
	s, err := serialize.New(serialize.Form(c.Form), c.Options, tools)
	if err != nil {
		return step.Permanent(err)
	}
	texts := corpus.NewSorter(x.Scratch)
	var tally serialize.Tally
	n := int32(-1)
	err = eachRecord(ctx, x, step.Inputs{c.Records}, func(r *nq.Record) error {
		n++
		d := corpus.Document{Doc: n}
		if !c.Documents.Set() {
			d.Split, d.ExampleID = string(r.Split), r.ExampleID
		} else if doc, ok := docs[r.Key()]; ok {
			d.Doc = doc
		} else {
			return nil
		}
		t, err := s.Document(r)
		if err != nil {
			return step.Permanent(err)
		}
		tally.Add(t.Removed)
		d.Title, d.Abstract, d.Text = t.Title, t.Abstract, t.String()
		return permanentIf(texts.Add(d), corpus.ErrOrder) // two records stand for one document
	})
	if err == nil {
		err = writeCorpus(x, texts.WriteAll)
	}
	if err != nil {
		return err
	}
	return inout.WriteJSON(x, "report", tally)
}

func writeCorpus(x *step.IO, fill func(*corpus.Writer) error) error {
	return inout.Write(x, "corpus", func(out io.Writer) error {
		w, err := corpus.NewWriter(out)
		if err != nil {
			return err
		}
		err = errors.Join(fill(w), w.Close())
		x.Count("documents", w.Len())
		return permanentIf(err, corpus.ErrOrder)
	})
}

func mergeSerialized(_ context.Context, x *step.IO, c serializeConfig) error {
	docs, err := representatives(x, c.Documents)
	if err != nil {
		return err
	}
	var streams []*corpus.Reader
	total := serialize.Tally{}
	for _, p := range x.Parts() {
		r, done, err := inout.OpenCorpus(x, step.In(p.Outputs["corpus"]))
		if err != nil {
			return err
		}
		defer done()
		streams = append(streams, r)
		var tally serialize.Tally
		if err := inout.ReadJSON(x, step.In(p.Outputs["report"]), &tally); err != nil {
			return err
		}
		values.Add(&total, tally)
	}
	written := int64(0)
	if err := writeCorpus(x, func(w *corpus.Writer) error {
		join := corpus.Merge
		if !c.Documents.Set() {
			join = corpus.Concatenate
		}
		err := join(w, streams)
		written = w.Len()
		return inout.DataError(err)
	}); err != nil {
		return err
	}
	if c.Documents.Set() && written != int64(len(docs)) {
		return step.Permanent(fmt.Errorf("%d of %d documents have a record: give the records of every split that the documents come from", written, len(docs)))
	}
	for name, n := range map[string]int{
		"without_title": total.WithoutTitle, "without_abstract": total.WithoutAbstract, "truncated": total.WithTruncation,
		"tokens_outside_html": total.Sum.SpansOutside, "tables_dropped": total.Sum.EmptyTables, "items_dropped": total.Sum.EmptyItems,
	} {
		if n > 0 {
			x.Count(name, int64(n))
		}
	}
	return inout.WriteJSON(x, "report", serializeReport{c.Form, c.Options, total})
}

type ExcerptsConfig struct {
	Headers    step.Inputs       `hcl:"headers" accepts:"nq/headers" help:"headers of the records, to find the pages by title"`
	Records    step.Inputs       `hcl:"records" accepts:"nq/records" help:"the records themselves, in the order of the headers"`
	Titles     []string          `hcl:"titles,optional" help:"titles of the pages, as their URLs have them; default: the first record"`
	Forms      []string          `hcl:"forms,optional" enum:"simplified_tags,simplified,simplenorm,ncinorm,htmlnorm" help:"serializations to show"`
	Characters int               `hcl:"characters,optional" min:"1" help:"code points after which a text is cut"`
	T5         step.Inputs       `hcl:"t5_tokenizer,optional" accepts:"files" help:"T5 tokenizer.json; needed by htmlnorm"`
	BERT       step.Inputs       `hcl:"bert_tokenizer,optional" accepts:"files" help:"bert-base-uncased tokenizer.json; needed by ncinorm with nci_normalize_title"`
	Options    serialize.Options `hcl:"options,optional" help:"rules, as in a serialize step"`
}

var Excerpts = step.Define(step.Kind[ExcerptsConfig]{
	Name:    "text_examples",
	Version: 3,
	Doc: `Show pages in several serializations side by side (fig:nq-text-representation-example).
Finds the first record of each title in the headers and reads only the block of
records that it is in. A title that no record has is counted and reported as absent.`,
	Example: `step "text_examples" "woods" {
  headers      = step.extract.train.headers
  records      = step.extract.train.records
  titles       = ["List of woods"]
  t5_tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: []step.Output{{Name: "report", Type: "serialize/examples", Help: "per page: title, revision, and per form its text, as JSON", Fields: step.FieldsOf[excerptsReport]()}},
	Defaults: ExcerptsConfig{Forms: []string{"simplified", "simplenorm", "htmlnorm"}, Characters: 1800,
		Options: serialize.Defaults()},
	Needs: step.Tokenizers,
	Unless: func(c ExcerptsConfig) bool {
		return len(c.T5) == 0 || !slices.ContainsFunc(c.Forms, func(f string) bool { return serialize.Form(f).NeedsUnknown(c.Options) })
	},
	Run: func(ctx context.Context, x *step.IO, c ExcerptsConfig) error {
		return WriteExcerpts(ctx, x, c, nil)
	},
})

type excerptsReport struct {
	Pages []inout.Example[excerpt] `json:"pages"`
}

type excerpt struct {
	Title     string            `json:"title"`
	ExampleID int64             `json:"example_id"`
	OldID     uint64            `json:"oldid"`
	Texts     map[string]string `json:"texts"` // by form
	Lengths   map[string]int    `json:"lengths"`
}

// errFound ends a scan early.
var errFound = errors.New("found")

func WriteExcerpts(_ context.Context, x *step.IO, c ExcerptsConfig, hasUnknown Unknown) error {
	tools, err := serializerTools(x, hasUnknown, c.BERT)
	if err != nil {
		return err
	}
	forms := make([]*serialize.Serializer, len(c.Forms))
	for i, f := range c.Forms {
		if forms[i], err = serialize.New(serialize.Form(f), c.Options, tools); err != nil {
			return step.Permanent(err)
		}
	}
	titles := c.Titles
	if len(titles) == 0 {
		titles = []string{""}
	}
	rep := excerptsReport{Pages: []inout.Example[excerpt]{}}
	for _, title := range titles {
		r, err := recordTitled(x, c, title)
		if err != nil {
			return err
		}
		if r == nil {
			rep.Pages = append(rep.Pages, inout.ExampleOf(x, excerpt{}, fmt.Errorf("no record has the title %q", title)))
			continue
		}
		e := excerpt{Title: title, ExampleID: r.ExampleID, Texts: map[string]string{}, Lengths: map[string]int{}}
		if title == "" {
			e.Title, _ = wikipedia.URLTitle(r.URL)
		}
		e.OldID, _ = wikipedia.OldID(r.URL) // 0: the URL names none
		for i, s := range forms {
			t, err := s.Document(r)
			if err != nil {
				return step.Permanent(err)
			}
			text := []rune(t.String())
			if e.Texts[c.Forms[i]], e.Lengths[c.Forms[i]] = t.String(), len(text); len(text) > c.Characters {
				e.Texts[c.Forms[i]] = string(text[:c.Characters]) + " ... [truncated]"
			}
		}
		rep.Pages = append(rep.Pages, inout.ExampleOf(x, e, nil))
	}
	return inout.WriteJSON(x, "report", rep)
}

// recordTitled reads the first record whose URL has that title, any for ""; nil if none has.
func recordTitled(x *step.IO, c ExcerptsConfig, title string) (*nq.Record, error) {
	for i, in := range c.Headers {
		for j, file := range x.Files(in, "headers") {
			at := int64(-1)
			var key nq.Key
			err := eachEntry(x, file, nq.NewHeaderReader, func(h *nq.Header) error {
				at++
				if t, _ := wikipedia.URLTitle(h.URL); title == "" || t == title {
					key = nq.Key{Split: h.Split, ID: h.ExampleID}
					return errFound
				}
				return nil
			})
			if err == nil {
				continue
			} else if !errors.Is(err, errFound) {
				return nil, err
			}
			if i >= len(c.Records) || j >= len(x.Files(c.Records[i], "records")) {
				return nil, step.Permanent(fmt.Errorf("records: no file for %s: give headers and records of the same extract steps", file.Name))
			}
			r, err := recordAt(x, x.Files(c.Records[i], "records")[j], at)
			if err == nil && r.Key() != key {
				err = step.Permanent(fmt.Errorf("records: beside the header of %s example %d is %s example %d: give headers and records of the same extract steps, in one order",
					key.Split, key.ID, r.Split, r.ExampleID))
			}
			return r, err
		}
	}
	if title == "" {
		return nil, step.Permanent(errors.New("the headers have no records"))
	}
	return nil, nil
}

func recordAt(x *step.IO, file artifacts.File, at int64) (*nq.Record, error) {
	f, err := openLocal(x, file.Digest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := nq.RecordAt(f, file.Size, at)
	if err != nil {
		return nil, inout.DataError(fmt.Errorf("%s: %w", file.Name, err))
	}
	return r, nil
}
