package ids

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/subword"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// titleIDsConfig spells titles.
type titleIDsConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection, which has the titles"`
	Corpus    step.Input  `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the collection's documents, of which those without a title take their first words; needed if there are such"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	MaxTokens int         `hcl:"max_tokens,optional" help:"first tokens of a title that are taken, special ones not counted"`
	Words     int         `hcl:"words,optional" help:"words of a text that stand for a title"`
	Lowercase bool        `hcl:"lowercase,optional" help:"lower-case titles first"`
}

// titlesReport says where identifiers came from.
type titlesReport struct {
	Documents int `json:"documents"`
	Titled    int `json:"titled_documents"`    // of whose titles the tokenizer can spell something
	FromText  int `json:"documents_from_text"` // whose first words stand for a title
	docid.TitleCounts
}

var TitleIDs = step.Define(step.Kind[titleIDsConfig]{
	Name:    "title_ids",
	Version: 1,
	Doc: `Give every document its title, in the tokens of the model (no type of the paper).
As in GENRE (De Cao et al., 2021). A document without a title that the tokenizer can spell takes the first words of
its text, or "untitled" if it can spell none of them. White space is one blank, and characters that the tokenizer has no token for
are left out. A title is cut after max_tokens tokens. Of documents with equal titles the first keeps it; the
next ones have " (2)", " (3)" and so on after it, the title cut further where that needs room. So the text of an
identifier is what its tokens spell, and validity by text and by tokens are of the same texts. Memory is the
titles; cost is that of tokenizing them, 100,000 in 10 s on one core.`,
	Example: `step "title_ids" "nq" {
  documents = step.dedup.nq["title"].documents
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: append(idOutputs[:len(idOutputs):len(idOutputs)],
		step.Output{Name: "titles", Type: "docid/titles", Help: "documents with and without a title, and how many titles were cut or numbered, as JSON", Fields: step.FieldsOf[titlesReport]()}),
	Defaults: titleIDsConfig{MaxTokens: 24, Words: 8},
	Check: func(c titleIDsConfig) error {
		var ps step.Problems
		inout.Check(&ps, "max_tokens", c.MaxTokens >= 1, "must be at least 1")
		inout.Check(&ps, "words", c.Words >= 1, "must be at least 1")
		return ps.Err()
	},
	Work: titleIDsConfig.work,
	Run:  runTitleIDs,
})

func runTitleIDs(ctx context.Context, x *step.IO, c titleIDsConfig) error {
	r, err := x.Open(c.Documents)
	if err != nil {
		return err
	}
	defer r.Close()
	tok, err := openTokenizer(x, c.Tokenizer)
	if err != nil {
		return err
	}
	defer tok.Close()
	var names, keys, titles []string
	var report titlesReport
	err = dedup.ReadDocuments(r, func(d *dedup.Document) error {
		title := d.Title
		if docid.Spells(tok, title) {
			report.Titled++
		} else {
			title = ""
		}
		names, keys, titles = append(names, strconv.Itoa(int(d.Doc))), append(keys, d.Key), append(titles, title)
		return nil
	})
	if err != nil {
		return inout.DataError(err)
	}
	report.Documents = len(names)
	if report.Titled < len(names) {
		if report.FromText, err = c.untitled(ctx, x, tok, keys, titles); err != nil {
			return err
		}
	}
	if c.Lowercase {
		for i := range titles {
			titles[i] = dedup.Lower(titles[i])
		}
	}
	set, counts, err := docid.Title(names, titles, c.MaxTokens, tok)
	if err != nil {
		return step.Permanent(err)
	}
	report.TitleCounts = *counts
	x.Count("titled_documents", int64(report.Titled))
	x.Count("numbered_documents", int64(counts.Numbered))
	if err := inout.WriteJSON(x, "titles", report); err != nil {
		return err
	}
	return writeIDs(x, set)
}

// untitled gives documents without a title that of the corpus or the first words of their
// texts, and counts the latter.
func (c titleIDsConfig) untitled(ctx context.Context, x *step.IO, tok *subword.Subword, keys, titles []string) (fromText int, err error) {
	if !c.Corpus.Set() {
		for i, title := range titles {
			if title == "" {
				return 0, step.Permanent(fmt.Errorf("document %d, %q, has no title that the tokenizer can spell: give corpus, of which such documents take their first words", i, keys[i]))
			}
		}
	}
	err = inout.EachDocument(ctx, x, c.Corpus, func(d *corpus.Document) error {
		if int(d.Doc) >= len(titles) {
			return step.Permanent(fmt.Errorf("document %d of corpus is none of the %d of documents: give both of the same collection", d.Doc, len(titles)))
		}
		if titles[d.Doc] != "" {
			return nil
		}
		if titles[d.Doc] = d.Title; !docid.Spells(tok, d.Title) {
			fromText++
			titles[d.Doc] = firstWords(d.Text, c.Words)
		}
		return nil
	})
	return fromText, err
}

// firstWords are the first n words of a text, with a blank between them.
func firstWords(text string, n int) string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if len(words) == n {
			break
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// openTokenizer opens a model's tokenizer, the caller's to close.
func openTokenizer(x *step.IO, tokenizer step.Inputs) (*subword.Subword, error) {
	path, err := inout.OnlyFile(x, tokenizer, "tokenizer")
	if err != nil {
		return nil, err
	}
	tok, err := subword.LoadSubword(path)
	return tok, step.Permanent(err)
}
