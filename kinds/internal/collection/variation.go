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
	Shared   []int       `hcl:"shared,optional" help:"revisions of shared titles to show, two by two, rather than those of the most frequent titles"`
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

// variationExcerpt is one revision with two of its texts where they first differ.
type variationExcerpt struct {
	Title   string `json:"title"`
	OldID   uint64 `json:"oldid"`
	Records int    `json:"records"`
	Texts   int    `json:"texts"`
	A       string `json:"a"`
	B       string `json:"b"`
}

// sharedExcerpt is two revisions under one title where their texts first differ.
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
		return permanentIfRepeated(err)
	}
	sum, titles := v.Revisions(), dedup.SharedTitles(grouped)
	chosen, shared := c.chooseRevisions(x, sum), c.chooseShared(x, grouped, titles)
	if err := grouped.Records.Err(); err != nil {
		return err
	}
	texts := dedup.ShownTexts{}
	for _, e := range chosen {
		texts.Want(e.Found.Texts[:min(2, len(e.Found.Texts))]...) // of an absent one none
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

// chooseRevisions gives the revisions that are shown.
func (c variationConfig) chooseRevisions(x *step.IO, sum dedup.RevisionTexts) (out []inout.Example[dedup.FixedRevision]) {
	if len(c.OldIDs) == 0 {
		for _, f := range sum.Varying[:min(c.Examples, len(sum.Varying))] {
			out = append(out, inout.ExampleOf(x, f, nil))
		}
	}
	for _, id := range c.OldIDs {
		f, err := sum.Of(uint64(id))
		out = append(out, inout.ExampleOf(x, f, err))
	}
	return out
}

// chooseShared gives the titles that are shown, with two of their revisions.
func (c variationConfig) chooseShared(x *step.IO, g *dedup.Grouping, all []dedup.SharedTitle) (out []inout.Example[dedup.SharedTitle]) {
	if len(c.Shared) == 0 {
		for _, s := range all[:min(c.Examples, len(all))] {
			out = append(out, inout.ExampleOf(x, s, nil))
		}
	}
	for i := 0; i+1 < len(c.Shared); i += 2 {
		s, err := dedup.SharedTitleOf(g, uint64(c.Shared[i]), uint64(c.Shared[i+1]))
		out = append(out, inout.ExampleOf(x, s, err))
	}
	return out
}
