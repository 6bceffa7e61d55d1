package collection

import (
	"context"
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/subword"
	"github.com/redsi/redsi/internal/tokenize"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// prefixesConfig compares two serializations within the model's first tokens.
type prefixesConfig struct {
	A         step.Input  `hcl:"a" accepts:"nq/corpus" help:"one serialization"`
	B         step.Input  `hcl:"b" accepts:"nq/corpus" help:"another one of the same collection"`
	T5        step.Inputs `hcl:"t5_tokenizer" accepts:"files" help:"T5 tokenizer.json"`
	Tokens    int         `hcl:"tokens,optional" help:"tokens that are compared"`
	Lowercase bool        `hcl:"lowercase,optional" help:"lower-case both texts first, as the paper's examples are"`
	Examples  []string    `hcl:"examples,optional" help:"titles whose first tokens are shown, for tab:ipa-tokenization-example; default: the first documents where only a has <unk>"`
}

var Prefixes = step.Define(step.Kind[prefixesConfig]{
	Name:    "first_tokens",
	Version: 1,
	Doc: `Compare two serializations of each document within their first T5 tokens.
Counts documents that differ and documents with <unk> (section "Qualitative
Analysis of NQ320K"), and shows examples (tab:ipa-tokenization-example); one that the
collection does not have is counted and said to be absent.`,
	Example: `step "first_tokens" "forms" {
  a            = step.serialize.nci_norm.corpus
  b            = step.serialize.html_norm.corpus
  t5_tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs:  []step.Output{{Name: "report", Type: "serialize/first_tokens", Help: "dedup.PrefixReport and examples, as JSON", Fields: step.FieldsOf[prefixReport]()}},
	Defaults: prefixesConfig{Tokens: 32, Lowercase: true},
	Check: func(c prefixesConfig) error {
		if c.Tokens < 1 {
			return step.Problems{{Path: "tokens", Detail: "must be at least 1"}}
		}
		return nil
	},
	Run: runPrefixes,
})

type prefixReport struct {
	dedup.PrefixReport
	Examples []inout.Example[prefixExample] `json:"examples"`
}

type prefixExample struct {
	Title string `json:"title"`
	A     string `json:"a"` // the first tokens as text, <unk> written out, as transformers' decode shows them
	B     string `json:"b"`
}

func runPrefixes(ctx context.Context, x *step.IO, c prefixesConfig) error {
	path, err := inout.OnlyFile(x, c.T5, "t5_tokenizer")
	if err != nil {
		return err
	}
	t5, err := subword.LoadT5(path)
	if err != nil {
		return step.Permanent(err)
	}
	defer t5.Close()
	shown := newPrefixExamples(c.Examples)
	p := dedup.Prefixes{N: c.Tokens, Unknown: t5.Unk()}
	ra, closeA, err := inout.OpenCorpus(x, c.A)
	if err != nil {
		return err
	}
	defer closeA()
	rb, closeB, err := inout.OpenCorpus(x, c.B)
	if err != nil {
		return err
	}
	defer closeB()
	err = corpus.Zip(ra, rb, func(a, b corpus.Document) error {
		ta, tb := a.Text, b.Text
		if c.Lowercase {
			ta, tb = dedup.Lower(ta), dedup.Lower(tb)
		}
		ia, ib := t5.PiecesPrefix(ta, c.Tokens), t5.PiecesPrefix(tb, c.Tokens)
		p.Add(ia, ib)
		if at, ok := shown.wants(b.Title, slices.Contains(ia, p.Unknown), slices.Contains(ib, p.Unknown)); ok {
			shown.found[at] = &prefixExample{Title: b.Title, A: tokenize.CleanUp(t5.Decode(ia, false)), B: tokenize.CleanUp(t5.Decode(ib, false))}
		}
		x.Report(step.Progress{Done: int64(p.Docs), Unit: "documents"})
		return ctx.Err()
	})
	if err != nil {
		return inout.DataError(err)
	}
	rep := prefixReport{PrefixReport: p.Report(), Examples: []inout.Example[prefixExample]{}}
	for at, e := range shown.found {
		switch {
		case e != nil:
			rep.Examples = append(rep.Examples, inout.ExampleOf(x, *e, nil))
		case len(c.Examples) > 0:
			rep.Examples = append(rep.Examples, inout.ExampleOf(x, prefixExample{}, fmt.Errorf("no document has the title %q", c.Examples[at])))
		}
	}
	x.Count("documents", int64(p.Docs))
	return inout.WriteJSON(x, "report", rep)
}

// prefixExamples chooses the documents to show: those with the titles asked for,
// in that order, else the first two where only a has <unk>.
type prefixExamples struct {
	at    map[string]int // by title, lower-cased
	found []*prefixExample
}

func newPrefixExamples(titles []string) *prefixExamples {
	e := &prefixExamples{at: map[string]int{}, found: make([]*prefixExample, max(2, len(titles)))}
	if len(titles) > 0 {
		e.found = e.found[:len(titles)]
	}
	for i, t := range titles {
		e.at[dedup.Lower(t)] = i
	}
	return e
}

func (e *prefixExamples) wants(title string, unknownA, unknownB bool) (int, bool) {
	if len(e.at) > 0 {
		at, ok := e.at[dedup.Lower(title)]
		return at, ok && e.found[at] == nil
	}
	at := slices.Index(e.found, nil)
	return at, at >= 0 && unknownA && !unknownB
}
