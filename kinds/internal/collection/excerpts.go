package collection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/serialize"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// ExcerptsConfig shows pages in several serializations.
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
	Version: 2,
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

// excerpt is one page.
type excerpt struct {
	Title     string            `json:"title"`
	ExampleID int64             `json:"example_id"`
	OldID     uint64            `json:"oldid"`
	Texts     map[string]string `json:"texts"` // by form
	Lengths   map[string]int    `json:"lengths"`
}

// errFound ends a scan early.
var errFound = errors.New("found")

// WriteExcerpts shows the pages.
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
			e.Texts[c.Forms[i]], e.Lengths[c.Forms[i]] = cutText(t.String(), c.Characters)
		}
		rep.Pages = append(rep.Pages, inout.ExampleOf(x, e, nil))
	}
	return inout.WriteJSON(x, "report", rep)
}

// cutText also counts the code points of the whole.
func cutText(s string, limit int) (string, int) {
	r := []rune(s)
	if len(r) <= limit {
		return s, len(r)
	}
	return string(r[:limit]) + " ... [truncated]", len(r)
}

// recordTitled reads the first record whose URL has that title; nil if none has.
func recordTitled(x *step.IO, c ExcerptsConfig, title string) (*nq.Record, error) {
	for i, in := range c.Headers {
		for j, file := range x.Files(in, "headers") {
			at := int64(-1)
			var key nq.Key
			err := headersOf(x, file, func(h *nq.Header) error {
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
	path, err := x.Path(file.Digest)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
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
