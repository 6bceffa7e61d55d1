package compute

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runTitleIDs(ctx context.Context, x *step.IO, c ids.TitleIDsConfig) error {
	tok, err := openTokenizer(x, c.Tokenizer, "tokenizer")
	if err != nil {
		return err
	}
	defer tok.Close()
	var names, keys, titles []string
	var report ids.TitlesReport
	err = inout.EachRow(x, c.Documents, "", func(d *dedup.Document) error {
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
		return err
	}
	report.Documents = len(names)
	if report.Titled < len(names) {
		if report.FromText, err = untitled(ctx, x, c, tok, keys, titles); err != nil {
			return err
		}
	}
	if c.Lowercase {
		for i := range titles {
			titles[i] = pytext.Lower(titles[i])
		}
	}
	set, counts, err := docid.Title(docid.KindTitle, names, titles, c.MaxTokens, tok)
	if err != nil {
		return step.Permanent(err)
	}
	report.TitleCounts = *counts
	inout.Count(x, map[string]int{"titled_documents": report.Titled, "numbered_documents": counts.Numbered})
	return writeIDs(x, set, "titles", report)
}

// untitled gives documents without a title that of the corpus or the first words of their
// texts, and counts the latter.
func untitled(ctx context.Context, x *step.IO, c ids.TitleIDsConfig, tok *subword.Subword, keys, titles []string) (fromText int, err error) {
	if !c.Corpus.Set() {
		for i, title := range titles {
			if title == "" {
				return 0, step.Permanent(fmt.Errorf("document %d, %q, has no title that the tokenizer can spell: give corpus, of which such documents take their first words", i, keys[i]))
			}
		}
	}
	err = inout.EachDocument(ctx, x, c.Corpus, func(d *corpus.Document) error {
		if int(d.Doc) >= len(titles) {
			return step.Permanent(fmt.Errorf("document %d of corpus is not one of the %d in documents: take both from the same collection", d.Doc, len(titles)))
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
