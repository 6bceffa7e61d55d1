package compute

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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

func runNaiveIDs(_ context.Context, x *step.IO, c ids.NaiveIDsConfig, tok *subword.Subword) error {
	names, err := inout.DocumentNames(x, c.Documents)
	if err != nil {
		return err
	}
	budget := uint64(c.Budget)
	if c.Times != 0 {
		budget = uint64(math.Ceil(c.Times * float64(len(names))))
	}
	set, err := docid.Naive(names, budget, uint64(c.Seed), docid.Generator(c.Generator), tok.EncodeBatch)
	if err != nil {
		return step.Permanent(err)
	}
	return inout.WriteIDs(x, set)
}

func runSemanticIDs(ctx context.Context, x *step.IO, c ids.SemanticIDsConfig, tok *subword.Subword) error {
	vectors, err := inout.ReadVectors(x, c.Embeddings)
	names, errNames := inout.DocumentNames(x, c.Documents)
	if err = cmp.Or(err, errNames); err != nil {
		return err
	}
	o := docid.SemanticOptions{Clusters: c.Clusters, LeafSize: c.LeafSize, Seed: uint32(c.Seed), SameSeed: c.NodeSeeds == "same",
		Single: c.Precision == "float32", Starts: c.Starts, MaxIterations: c.Iterations, Tolerance: c.Tolerance,
		Progress: func(n, of int) { x.Report(step.Progress{Done: int64(n), Total: int64(of), Unit: "documents"}) }}
	if c.Tolerance == 0 {
		o.Tolerance = -1 // 0 is the default
	}
	set, tree, err := docid.Semantic(ctx, names, vectors, o, tok.EncodeBatch)
	if err != nil {
		return inout.DataError(err)
	}
	inout.Count(x, map[string]int{"leaves": len(tree.Leaves), "k_means": tree.Fits, "dealt_nodes": tree.Dealt})
	return writeIDs(x, set, "tree", tree)
}

func writeIDs(x *step.IO, set *docid.Set, output string, report any) error {
	return errors.Join(inout.WriteJSON(x, output, report), inout.WriteIDs(x, set))
}

func runResidualIDs(ctx context.Context, x *step.IO, c ids.ResidualIDsConfig, tok *subword.Subword) error {
	vectors, err := inout.ReadVectors(x, c.Embeddings)
	names, errNames := inout.DocumentNames(x, c.Documents)
	if err = cmp.Or(err, errNames); err != nil {
		return err
	}
	o := docid.ResidualOptions{Levels: c.Levels, Codes: c.Codes, FirstToken: int32(c.FirstToken), EOS: tok.End(), Seed: uint32(c.Seed),
		Progress: func(n int) { x.Report(step.Progress{Done: int64(n), Total: int64(c.Levels), Unit: "levels"}) }}
	set, quantization, err := docid.Residual(ctx, names, vectors, o)
	if err != nil {
		return inout.DataError(err)
	}
	x.Count("colliding_documents", int64(quantization.Colliding))
	return writeIDs(x, set, "quantization", quantization)
}

func runKeywordIDs(ctx context.Context, x *step.IO, c ids.KeywordIDsConfig, tok *subword.Subword) error {
	names, err := inout.DocumentNames(x, c.Documents)
	if err != nil {
		return err
	}
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

func runTitleIDs(ctx context.Context, x *step.IO, c ids.TitleIDsConfig, tok *subword.Subword) error {
	var names, keys, titles []string
	var report ids.TitlesReport
	err := inout.EachRow(x, c.Documents, "", func(d *dedup.Document) error {
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

// untitled gives documents without a title the corpus's title or, counted, the first words of their text.
func untitled(ctx context.Context, x *step.IO, c ids.TitleIDsConfig, tok *subword.Subword, keys, titles []string) (fromText int, err error) {
	if i := slices.Index(titles, ""); i >= 0 && !c.Corpus.Set() {
		return 0, step.Permanent(fmt.Errorf("document %d, %q, has no title that the tokenizer can spell: give corpus, of which such documents take their first words", i, keys[i]))
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
			var words []string
			for word := range strings.FieldsSeq(d.Text) {
				if len(words) == c.Words {
					break
				}
				words = append(words, word)
			}
			titles[d.Doc] = strings.Join(words, " ")
		}
		return nil
	})
	return fromText, err
}

func runImportIDs(ctx context.Context, x *step.IO, c ids.ImportIDsConfig, tok *subword.Subword) error {
	var numbers, names []string
	err := inout.EachRow(x, c.Documents, "", func(d *dedup.Document) error {
		number := strconv.Itoa(int(d.Doc))
		name := d.Key
		if c.Names == "number" {
			name = number
		}
		numbers, names = append(numbers, number), append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	f, err := docid.NewImported(docid.Kind(c.Type), numbers, names, tok, cmp.Or(c.Vocabulary, tok.VocabSize()))
	if err != nil {
		return step.Permanent(err)
	}
	err = inout.EachRecord(x, c.Files, "identifiers", c.File, func(r inout.Record) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		id, err := foreignID(r)
		if err != nil {
			return err
		}
		return f.Add(id)
	})
	if err != nil {
		return err
	}
	set, err := f.Set()
	if err != nil {
		return step.Permanent(fmt.Errorf("files: %w", err))
	}
	return inout.WriteIDs(x, set)
}

func foreignID(r inout.Record) (docid.Foreign, error) {
	id := docid.Foreign{Place: r.Place, Document: r.Document}
	var err error
	if id.Text, err = r.Text(0, "text", "identifier"); err != nil {
		return id, err
	}
	if err = r.List(&id.Tokens, "tokens"); err != nil {
		return id, err
	}
	words, err := r.Text(1)
	if err != nil {
		return id, err
	}
	for word := range strings.FieldsSeq(words) {
		t, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return id, fmt.Errorf("%s: token %.20q is not a token id", r.Place, word)
		}
		id.Tokens = append(id.Tokens, int32(t))
	}
	return id, nil
}

func runTokens(_ context.Context, x *step.IO, c ids.TokensConfig, tok *subword.Subword) error {
	examples := []ids.TokensExample{}
	for _, text := range c.Texts {
		examples = append(examples, ids.TokensExample{Text: text, Pieces: tok.Tokens(text), Tokens: tok.Encode(text)})
	}
	if c.IDs.Set() {
		set, err := inout.ReadIDs(x, c.IDs)
		if err != nil {
			return err
		}
		pairing := set.PairWith("the attribute documents")
		for _, n := range c.Documents {
			place, err := pairing.Find(n)
			if err != nil {
				return step.Permanent(err)
			}
			id := set.Identifiers[place]
			e := ids.TokensExample{Document: id.Document, Text: id.Text, Tokens: id.Tokens}
			parts := strings.Split(id.Text, "-") // a residual identifier has a part for each code, others have one
			for i, t := range id.Tokens {
				piece, ok := tok.Piece(t)
				if !ok {
					piece = parts[min(i, len(parts)-1)] // for a token that the tokenizer lacks
				}
				e.Pieces = append(e.Pieces, piece)
			}
			examples = append(examples, e)
		}
	}
	var tree docid.Tree // no leaf's prefix begins another's
	if c.Tree.Set() {
		if err := inout.ReadJSON(x, c.Tree, &tree); err != nil {
			return err
		}
	}
	for i := range examples {
		for _, l := range tree.Leaves {
			if e := &examples[i]; strings.HasPrefix(e.Text, l.Prefix) && e.Text != l.Prefix {
				e.Prefix, e.Index, e.LeafDocuments = l.Prefix, e.Text[len(l.Prefix):], l.Documents
				e.Path = strings.Split(l.Prefix, "")
				break
			}
		}
	}
	return inout.WriteJSON(x, "report", ids.TokensReport{Examples: examples})
}
