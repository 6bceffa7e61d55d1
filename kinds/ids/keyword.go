package ids

import (
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// keywordIDsConfig spells the words that tell documents apart.
type keywordIDsConfig struct {
	Documents step.Input  `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Corpus    step.Input  `hcl:"corpus" accepts:"nq/corpus" help:"texts of the collection's documents"`
	Tokenizer step.Inputs `hcl:"tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Words     int         `hcl:"words,optional" help:"words of an identifier"`
	K1        float64     `hcl:"k1,optional" help:"of BM25: how soon a word that occurs more often counts no more"`
	B         float64     `hcl:"b,optional" help:"of BM25: how much the length of a document counts"`
	MaxTokens int         `hcl:"max_tokens,optional" help:"first tokens of the words that are taken, special ones not counted"`
}

// keywordsReport says how words became identifiers.
type keywordsReport struct {
	Documents  int `json:"documents"`
	Vocabulary int `json:"words"` // different ones of all texts
	docid.TitleCounts
}

var KeywordIDs = step.Define(step.Kind[keywordIDsConfig]{
	Name:    "keyword_ids",
	Version: 1,
	Doc: `Give every document the words of its text that tell it from others (no type of the paper).
The words with the greatest weight by BM25, in Lucene's form, the greatest first; of equal ones the one that comes
first in the text. Words are runs of letters and digits, in lower case. Identifiers of words are those of
Zhang et al., 2023 (term sets), who learn which words and let the model write them in any order; here the order is one.
Cut and numbered as titles are: kind title_ids. Cost: two passes through the texts; memory is their vocabulary and
the identifiers.`,
	Example: `step "keyword_ids" "title" {
  documents = step.dedup.nq["title"].documents
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: append(idOutputs[:len(idOutputs):len(idOutputs)],
		step.Output{Name: "keywords", Type: "docid/titles", Help: "how many different words there are, and how many identifiers were cut or numbered, as JSON", Fields: step.FieldsOf[keywordsReport]()}),
	Defaults: keywordIDsConfig{Words: 5, K1: 0.9, B: 0.4, MaxTokens: 24},
	Check: func(c keywordIDsConfig) error {
		var ps step.Problems
		inout.Check(&ps, "words", c.Words >= 1, "must be at least 1")
		inout.Check(&ps, "max_tokens", c.MaxTokens >= 1, "must be at least 1")
		inout.Check(&ps, "k1", c.K1 >= 0, "must not be negative")
		inout.Check(&ps, "b", c.B >= 0 && c.B <= 1, "must be from 0 to 1")
		return ps.Err()
	},
	Work: keywordIDsConfig.work,
	Run:  runKeywordIDs,
})

func runKeywordIDs(ctx context.Context, x *step.IO, c keywordIDsConfig) error {
	names, err := documentNames(x, c.Documents)
	if err != nil {
		return err
	}
	tok, err := openTokenizer(x, c.Tokenizer)
	if err != nil {
		return err
	}
	defer tok.Close()
	weights := &docid.Keywords{K1: c.K1, B: c.B}
	vocabulary := 0
	if err := eachWords(ctx, x, c.Corpus, len(names), func(_ int, words []string) { vocabulary = weights.Add(words) }); err != nil {
		return err
	}
	keywords := make([]string, len(names))
	err = eachWords(ctx, x, c.Corpus, len(names), func(doc int, words []string) {
		keywords[doc] = strings.Join(weights.Of(words, c.Words), " ")
	})
	if err != nil {
		return err
	}
	set, counts, err := docid.Keyword(names, keywords, c.MaxTokens, tok)
	if err != nil {
		return step.Permanent(err)
	}
	x.Count("numbered_documents", int64(counts.Numbered))
	if err := inout.WriteJSON(x, "keywords", keywordsReport{len(names), vocabulary, *counts}); err != nil {
		return err
	}
	return writeIDs(x, set)
}

// eachWords yields the words of a corpus that has the documents 0 to n-1.
func eachWords(ctx context.Context, x *step.IO, in step.Input, n int, yield func(doc int, words []string)) error {
	due := 0
	other := func() error {
		return step.Permanent(fmt.Errorf("corpus has not the %d documents of documents, from document %d on: give both of the same collection", n, due))
	}
	err := inout.EachDocument(ctx, x, in, func(d *corpus.Document) error {
		if int(d.Doc) != due || due == n {
			return other()
		}
		yield(due, docid.Words(d.Text, dedup.Lower))
		due++
		return nil
	})
	if err == nil && due != n {
		err = other()
	}
	return err
}
