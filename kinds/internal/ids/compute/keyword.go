package compute

import (
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runKeywordIDs(ctx context.Context, x *step.IO, c ids.KeywordIDsConfig) error {
	names, tok, err := namesAndTokenizer(x, c.Documents, c.Tokenizer, "tokenizer")
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
	set, counts, err := docid.Title(docid.KindKeyword, names, keywords, c.MaxTokens, tok)
	if err != nil {
		return step.Permanent(err)
	}
	x.Count("numbered_documents", int64(counts.Numbered))
	return writeIDs(x, set, "keywords", ids.KeywordsReport{Documents: len(names), Vocabulary: vocabulary, TitleCounts: *counts})
}

// eachWords yields the words of a corpus that has the documents 0 to n-1.
func eachWords(ctx context.Context, x *step.IO, in step.Input, n int, yield func(doc int, words []string)) error {
	due := 0
	other := func() error {
		return step.Permanent(fmt.Errorf("corpus lacks some of the %d documents, from document %d on: take both from the same collection", n, due))
	}
	err := inout.EachDocument(ctx, x, in, func(d *corpus.Document) error {
		if int(d.Doc) != due || due == n {
			return other()
		}
		yield(due, docid.Words(d.Text, pytext.Lower))
		due++
		return nil
	})
	if err == nil && due != n {
		err = other()
	}
	return err
}
