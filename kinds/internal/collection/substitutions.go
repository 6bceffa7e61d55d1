package collection

import (
	"context"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// SubstitutionsConfig counts stored tokens that differ from their HTML.
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

// CountSubstitutions writes the report.
func CountSubstitutions(ctx context.Context, x *step.IO, c SubstitutionsConfig, hasUnknown Unknown) error {
	var s nq.Substitutions
	if err := eachRecord(ctx, x, c.Records, func(r *nq.Record) error { s.Add(r); return nil }); err != nil {
		return err
	}
	return inout.WriteReport(x, s.Report(c.Top, hasUnknown), map[string]int{"compared": int(s.Compared),
		"mismatches": int(s.Mismatches)})
}

// eachRecord reads record streams in the order of their files. The record is
// only valid during the call.
func eachRecord(ctx context.Context, x *step.IO, ins step.Inputs, f func(*nq.Record) error) error {
	n := int64(0)
	for _, in := range ins {
		for _, file := range x.Files(in, "records") {
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
	}
	return nil
}

// PrefixesConfig compares two serializations within the model's first tokens.
type PrefixesConfig struct {
	A         step.Input  `hcl:"a" accepts:"nq/corpus" help:"one serialization"`
	B         step.Input  `hcl:"b" accepts:"nq/corpus" help:"another one of the same collection"`
	T5        step.Inputs `hcl:"t5_tokenizer" accepts:"files" help:"T5 tokenizer.json"`
	Tokens    int         `hcl:"tokens,optional" min:"1" help:"tokens that are compared"`
	Lowercase bool        `hcl:"lowercase,optional" help:"lower-case both texts first, as the paper's examples are"`
	Examples  []string    `hcl:"examples,optional" help:"titles whose first tokens are shown, for tab:ipa-tokenization-example; default: the first documents where only a has <unk>"`
}

// FirstTokens is how many the paper compares.
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

// PrefixReport is what first tokens have.
type PrefixReport struct {
	dedup.PrefixReport
	Examples []inout.Example[PrefixExample] `json:"examples"`
}

// PrefixExample is a document whose first tokens are shown.
type PrefixExample struct {
	Title string `json:"title"`
	A     string `json:"a"` // the first tokens as text, <unk> written out, as transformers' decode shows them
	B     string `json:"b"`
}
