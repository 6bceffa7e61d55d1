package compute

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/export"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

// queryInput is how the tokenizer alone, given a text with its prefix, makes the tokens that
// the reader makes.
func queryInput(read retrieve.Reader) (export.QueryInput, error) {
	how, tok := read.Inputs, read.Tokenizer
	q := export.QueryInput{Tokens: how.MaxQuery + len(tok.WithSpecialTokens(nil)), Lowercase: how.Lowercase}
	if how.QueryPrefix == "" {
		return q, nil
	}
	const probe = "who played"
	want := slices.Concat(tok.Pieces(how.QueryPrefix), tok.Pieces(probe))
	for _, between := range []string{" ", ""} { // T5's pieces begin with a blank, those of BART do not
		if q.Prefix = how.QueryPrefix + between; slices.Equal(tok.Pieces(q.Prefix+probe), want) {
			return q, nil
		}
	}
	return q, step.Permanent(fmt.Errorf("the tokenizer has other tokens for a query after the prefix %q than for both alone: no text stands for what the model reads", how.QueryPrefix))
}

func modelCard(x *step.IO, c model.ExportModelConfig, s retrieve.Settings, query export.QueryInput) (export.ModelCard, error) {
	card := export.ModelCard{Name: c.Name, License: c.License, Language: c.Language, Base: c.Base, Dataset: c.Dataset, Command: c.Command,
		Identifiers: string(s.Identifiers), OneToken: s.Identifiers.OneToken(), Documents: s.Documents,
		Query: query, Valid: string(s.Search.Validity), Ends: string(s.Search.EarlyStopping)}
	for _, set := range c.Settings {
		name, value, _ := strings.Cut(set, "=")
		card.Settings = append(card.Settings, export.Setting{Name: name, Value: value})
	}
	source := func(name string, in step.Input) {
		if in.Set() {
			card.Sources = append(card.Sources, export.Setting{Name: name, Value: in.Artifact.Digest.String()})
		}
	}
	source("model", c.Model)
	source("ids", c.IDs)
	source("documents", c.Documents)
	for i, in := range c.Reports {
		source("report, "+c.Labels[i], in)
		var e model.Evaluation
		if err := inout.ReadJSON(x, in, &e); err != nil {
			return card, err
		}
		card.Parameters = e.Parameters
		card.Results = append(card.Results, resultOf(e, c.Labels[i]))
	}
	return card, nil
}

// resultOf is what a card shows of an evaluation.
func resultOf(e model.Evaluation, label string) export.Result {
	m := e.Percent.PostFiltered
	r := export.Result{Name: label, Scores: []export.Score{{Metric: "Hits@1", Value: m.Hits1}, {Metric: "Hits@10", Value: m.Hits10}, {Metric: "MRR@10", Value: m.MRR10}}}
	if invalid := cmp.Or(e.Percent.Invalid, e.Percent.InvalidBeam); invalid != nil {
		r.Scores = append(r.Scores, export.Score{Metric: model.InvalidMetric(e.Width), Value: *invalid})
	}
	return r
}
