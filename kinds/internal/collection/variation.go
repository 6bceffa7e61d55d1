package collection

import (
	"context"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type variationConfig struct {
	Records  step.Inputs `hcl:"records" accepts:"nq/records" help:"records of all splits"`
	Examples int         `hcl:"examples,optional" help:"how many revisions to show"`
	OldIDs   []int       `hcl:"oldids,optional" help:"revisions to show rather than the most varied ones"`
	Shared   []int       `hcl:"shared,optional" help:"revisions of shared titles to show, two by two, rather than of the most frequent titles"`
}

var Variation = step.Define(step.Kind[variationConfig]{
	Name:    "revision_variation",
	Version: 2,
	Doc: `Count the texts that records of one revision or one title have (the two appendices on variation).
Reports distinct revisions and distinct flattened texts, and shows where the
texts of the most varied revisions, and those of two revisions under one title,
first differ. Reads the records twice: once for digests, once for the texts that
are shown. A revision asked for that the records do not have is counted and reported
as absent; the numbers do not depend on it.`,
	Example: `step "revision_variation" "nq" {
  records = [step.extract.train.records, step.extract.dev.records]
  oldids  = [815185445, 787133819]
  shared  = [804434627, 843537108]
}`,
	Check: inout.Checks(func(c variationConfig, ps *step.Problems) {
		inout.Check(ps, "shared", len(c.Shared)%2 == 0, "must list revisions two by two")
	}),
	Outputs:  []step.Output{{Name: "report", Type: "dedup/variation", Help: "counts and examples, as JSON", Fields: step.FieldsOf[variationReport]()}},
	Defaults: variationConfig{Examples: 2},
	Run:      runVariation,
})

type variationReport struct {
	Records   int                               `json:"records"`
	Revisions int                               `json:"revisions"`
	Texts     int                               `json:"texts"`
	Varying   int                               `json:"varying_revisions"`
	Examples  []inout.Example[variationExcerpt] `json:"examples"`

	SharedTitles int                            `json:"shared_titles"` // titles whose oldest and newest text differ
	Shared       []inout.Example[sharedExcerpt] `json:"shared"`
}

// variationExcerpt is a revision with two of its texts, where they first differ.
type variationExcerpt struct {
	Title   string `json:"title"`
	OldID   uint64 `json:"oldid"`
	Records int    `json:"records"`
	Texts   int    `json:"texts"`
	A       string `json:"a"`
	B       string `json:"b"`
}

// sharedExcerpt is two revisions under one title, where their texts first differ.
type sharedExcerpt struct {
	Title     string `json:"title"`
	Records   int    `json:"records"`
	Revisions int    `json:"revisions"`
	OldIDA    uint64 `json:"oldid_a"`
	OldIDB    uint64 `json:"oldid_b"`
	A         string `json:"a"`
	B         string `json:"b"`
}

func runVariation(ctx context.Context, x *step.IO, c variationConfig) error {
	v, err := dedup.NewVariation(x.Scratch)
	if err != nil {
		return step.Permanent(err)
	}
	if err := eachRecord(ctx, x, c.Records, func(r *nq.Record) error { return step.Permanent(v.Add(r)) }); err != nil {
		return err
	}
	grouped, err := v.Titles()
	if err != nil {
		return permanentIf(err, dedup.ErrRepeated)
	}
	sum, titles := v.Revisions.Summary(), dedup.SharedTitles(grouped)
	chosen := shown(x, sum.Varying[:min(c.Examples, len(sum.Varying))], len(c.OldIDs), func(i int) (dedup.FixedRevision, error) {
		return sum.Of(uint64(c.OldIDs[i]))
	})
	shared := shown(x, titles[:min(c.Examples, len(titles))], len(c.Shared)/2, func(i int) (dedup.SharedTitle, error) {
		return dedup.SharedTitleOf(grouped, uint64(c.Shared[2*i]), uint64(c.Shared[2*i+1]))
	})
	if err := grouped.Records.Err(); err != nil {
		return err
	}
	texts := dedup.ShownTexts{}
	for _, e := range chosen {
		texts.Want(e.Found.Texts[:min(2, len(e.Found.Texts))]...) // an absent example has none
	}
	for _, e := range shared {
		texts.Want(e.Found.A, e.Found.B)
	}
	if err := eachRecord(ctx, x, c.Records, func(r *nq.Record) error { texts.Add(r); return nil }); err != nil {
		return err
	}
	rep := variationReport{Records: sum.Records, Revisions: sum.Revisions, Texts: sum.Texts, Varying: len(sum.Varying),
		Examples: []inout.Example[variationExcerpt]{}, SharedTitles: len(titles), Shared: []inout.Example[sharedExcerpt]{}}
	for _, e := range chosen {
		rep.Examples = append(rep.Examples, inout.Map(e, func(f dedup.FixedRevision) variationExcerpt {
			a, b := texts.Contrast(f.Texts[0], f.Texts[1])
			return variationExcerpt{Title: f.Title, OldID: f.OldID, Records: f.Records, Texts: len(f.Texts), A: a, B: b}
		}))
	}
	for _, e := range shared {
		rep.Shared = append(rep.Shared, inout.Map(e, func(s dedup.SharedTitle) sharedExcerpt {
			a, b := texts.Contrast(s.A, s.B)
			return sharedExcerpt{Title: s.Title, Records: s.Records, Revisions: s.Revisions, OldIDA: s.A.OldID, OldIDB: s.B.OldID, A: a, B: b}
		}))
	}
	return inout.WriteReport(x, rep, map[string]int{"revisions": sum.Revisions, "texts": sum.Texts})
}

// shown returns the first examples or, if n revisions were asked for, these.
func shown[T any](x *step.IO, first []T, n int, of func(i int) (T, error)) (out []inout.Example[T]) {
	if n == 0 {
		for _, v := range first {
			out = append(out, inout.ExampleOf(x, v, nil))
		}
	}
	for i := range n {
		v, err := of(i)
		out = append(out, inout.ExampleOf(x, v, err))
	}
	return out
}

type SubstitutionsConfig struct {
	Records step.Inputs `hcl:"records" accepts:"nq/records" help:"full-format records; the paper counts the development set"`
	T5      step.Inputs `hcl:"t5_tokenizer" accepts:"files" help:"T5 tokenizer.json, for the columns about <unk>"`
	Top     int         `hcl:"top,optional" help:"how many pairs the table has"`
}

var Substitutions = step.Define(step.Kind[SubstitutionsConfig]{
	Name:    "substitutions",
	Version: 2,
	Doc: `Count the tokens that NQ's preprocessing rewrote (appendix "Character Substitutions").
Compares every stored token with its byte-aligned HTML span. Cost: reading the
records once; memory is per distinct pair.`,
	Example: `step "substitutions" "dev" {
  records      = step.extract.dev.records
  t5_tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs:  []step.Output{{Name: "report", Type: "nq/substitutions", Help: "nq.SubstitutionReport as JSON", Fields: step.FieldsOf[nq.SubstitutionReport]()}},
	Defaults: SubstitutionsConfig{Top: 10},
	Needs:    step.Tokenizers,
})

func CountSubstitutions(ctx context.Context, x *step.IO, c SubstitutionsConfig, hasUnknown Unknown) error {
	var s nq.Substitutions
	if err := eachRecord(ctx, x, c.Records, func(r *nq.Record) error { s.Add(r); return nil }); err != nil {
		return err
	}
	return inout.WriteReport(x, s.Report(c.Top, hasUnknown), map[string]int{"compared": int(s.Compared),
		"mismatches": int(s.Mismatches)})
}

// eachRecord visits the records of streams in the order of their files. A record is valid during the call.
func eachRecord(ctx context.Context, x *step.IO, ins step.Inputs, f func(*nq.Record) error) error {
	n := int64(0)
	for _, file := range inout.Files(x, ins, inout.Called("records")) {
		err := eachEntry(x, file, nq.NewRecordReader, func(r *nq.Record) error {
			if n++; n%100 == 0 {
				x.Report(step.Progress{Done: n, Unit: "records", Note: file.Name})
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type PrefixesConfig struct {
	A         step.Input  `hcl:"a" accepts:"nq/corpus" help:"one serialization"`
	B         step.Input  `hcl:"b" accepts:"nq/corpus" help:"another one of the same collection"`
	T5        step.Inputs `hcl:"t5_tokenizer" accepts:"files" help:"T5 tokenizer.json"`
	Tokens    int         `hcl:"tokens,optional" min:"1" help:"tokens that are compared"`
	Lowercase bool        `hcl:"lowercase,optional" help:"lower-case both texts first, as the paper's examples are"`
	Examples  []string    `hcl:"examples,optional" help:"titles whose first tokens are shown, for tab:ipa-tokenization-example; default: the first documents where only a has <unk>"`
}

// FirstTokens is how many tokens the paper compares.
const FirstTokens = 32

var Prefixes = step.Define(step.Kind[PrefixesConfig]{
	Name:    "first_tokens",
	Version: 1,
	Doc: `Compare two serializations of each document within their first T5 tokens.
Counts documents that differ and documents with <unk> (section "Qualitative
Analysis of NQ320K"), and shows examples (tab:ipa-tokenization-example); one that the
collection does not have is counted and reported as absent.`,
	Example: `step "first_tokens" "forms" {
  a            = step.serialize.nci_norm.corpus
  b            = step.serialize.html_norm.corpus
  t5_tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs:  []step.Output{{Name: "report", Type: "serialize/first_tokens", Help: "dedup.PrefixReport and examples, as JSON", Fields: step.FieldsOf[PrefixReport]()}},
	Defaults: PrefixesConfig{Tokens: FirstTokens, Lowercase: true},
	Needs:    step.Tokenizers,
})

type PrefixReport struct {
	dedup.PrefixReport
	Examples []inout.Example[PrefixExample] `json:"examples"`
}

type PrefixExample struct {
	Title string `json:"title"`
	A     string `json:"a"` // the first tokens as text, <unk> written out, as transformers' decode shows them
	B     string `json:"b"`
}
