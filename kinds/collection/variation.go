package collection

import (
	"context"
	"slices"

	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/nq"
	"github.com/redsi/redsi/internal/wikipedia"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// variationConfig looks for one revision that was rendered in several ways.
type variationConfig struct {
	Records  step.Inputs `hcl:"records" accepts:"nq/records" help:"records of all splits"`
	Examples int         `hcl:"examples,optional" help:"how many revisions to show"`
	OldIDs   []int       `hcl:"oldids,optional" help:"revisions to show rather than the most varied ones"`
	Shared   []int       `hcl:"shared,optional" help:"revisions of shared titles to show, two by two, rather than those of the most frequent titles"`
}

var Variation = step.Define(step.Kind[variationConfig]{
	Name:    "revision_variation",
	Version: 1,
	Doc: `Count the texts that records of one revision or one title have (the two appendices on variation).
Reports distinct revisions and distinct flattened texts, and shows where the
texts of the most varied revisions, and those of two revisions under one title,
first differ. Reads the records twice: once for digests, once for the texts that
are shown. A revision asked for that the records do not have is counted and said to
be absent; the numbers do not depend on it.`,
	Example: `step "revision_variation" "nq" {
  records = [step.extract.train.records, step.extract.dev.records]
  oldids  = [815185445, 787133819]
  shared  = [804434627, 843537108]
}`,
	Check: func(c variationConfig) error {
		if len(c.Shared)%2 != 0 {
			return step.Problems{{Path: "shared", Detail: "must list revisions two by two"}}
		}
		return nil
	},
	Outputs:  []step.Output{{Name: "report", Type: "dedup/variation", Help: "counts and examples, as JSON"}},
	Defaults: variationConfig{Examples: 2},
	Run:      runVariation,
})

// variationReport is what the two tables read.
type variationReport struct {
	Records   int   `json:"records"`
	Revisions int   `json:"revisions"`
	Texts     int   `json:"texts"`
	Varying   int   `json:"varying_revisions"`
	Examples  []any `json:"examples"` // variationExcerpt or absent

	SharedTitles int   `json:"shared_titles"` // titles whose oldest and newest text differ
	Shared       []any `json:"shared"`        // sharedExcerpt or absent
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
	revs := dedup.NewRevisions()
	key, err := dedup.Lookup("url_title_cased")
	if err != nil {
		return step.Permanent(err)
	}
	titles, err := dedup.NewGrouper([]dedup.Key{key}, dedup.Options{}, dedup.Sources{})
	if err != nil {
		return step.Permanent(err)
	}
	err = eachRecord(ctx, x, c.Records, func(r *nq.Record) error {
		oldid, err := wikipedia.OldID(r.URL)
		if err != nil {
			oldid = 0 // counted by title alone
		}
		title, _ := wikipedia.URLTitle(r.URL)
		text := dedup.FlatText(r, 0)
		revs.Add(title, dedup.Snapshot{ExampleID: r.ExampleID, Split: r.Split, OldID: oldid}, dedup.TextDigest(text, 0, false))
		h := nq.HeaderOf(r)
		h.Text4KCased, h.Text4K = dedup.TextDigest(text, dedup.TextLimit, false), dedup.TextDigest(text, dedup.TextLimit, true)
		return step.Permanent(titles.Add(&h))
	})
	if err != nil {
		return err
	}
	sum := revs.Summary()
	chosen := chooseRevisions(x, sum, c)
	all, shared := chooseShared(x, titles.Groupings()[0], c)
	text, err := textsOf(ctx, x, c.Records, slices.Concat(chosen, shared))
	if err != nil {
		return err
	}
	rep := variationReport{Records: sum.Records, Revisions: sum.Revisions, Texts: sum.Texts, Varying: len(sum.Varying),
		Examples: []any{}, SharedTitles: all, Shared: []any{}}
	for _, e := range chosen {
		f, ok := e.(dedup.FixedRevision)
		if !ok {
			rep.Examples = append(rep.Examples, e)
			continue
		}
		a, b := text.contrast(f.Texts[0], f.Texts[1])
		rep.Examples = append(rep.Examples, variationExcerpt{Title: f.Title, OldID: f.OldID, Records: f.Records, Texts: len(f.Texts), A: a, B: b})
	}
	for _, e := range shared {
		s, ok := e.(dedup.SharedTitle)
		if !ok {
			rep.Shared = append(rep.Shared, e)
			continue
		}
		a, b := text.contrast(s.A, s.B)
		rep.Shared = append(rep.Shared, sharedExcerpt{Title: s.Title, Records: s.Records, Revisions: s.Revisions, OldIDA: s.A.OldID, OldIDB: s.B.OldID, A: a, B: b})
	}
	x.Count("revisions", int64(sum.Revisions))
	x.Count("texts", int64(sum.Texts))
	return inout.WriteJSON(x, "report", rep)
}

// chooseRevisions gives a dedup.FixedRevision for each example, or absent.
func chooseRevisions(x *step.IO, sum dedup.RevisionTexts, c variationConfig) []any {
	var out []any
	if len(c.OldIDs) == 0 {
		for _, f := range sum.Varying[:min(c.Examples, len(sum.Varying))] {
			out = append(out, f)
		}
	}
	for _, id := range c.OldIDs {
		if f, err := sum.Of(uint64(id)); err != nil {
			out = append(out, inout.NotHere(x, err))
		} else {
			out = append(out, f)
		}
	}
	return out
}

// chooseShared gives a dedup.SharedTitle for each example, or absent, and counts the
// titles to choose from.
func chooseShared(x *step.IO, g *dedup.Grouping, c variationConfig) (all int, out []any) {
	found := dedup.SharedTitles(g)
	if len(c.Shared) == 0 {
		for _, s := range found[:min(c.Examples, len(found))] {
			out = append(out, s)
		}
	}
	for i := 0; i+1 < len(c.Shared); i += 2 {
		if s, err := dedup.SharedTitleOf(g, uint64(c.Shared[i]), uint64(c.Shared[i+1])); err != nil {
			out = append(out, inout.NotHere(x, err))
		} else {
			out = append(out, s)
		}
	}
	return len(found), out
}

// shownTexts are the flattened texts of the records that excerpts are made of.
type shownTexts map[exampleKey]string

func textsOf(ctx context.Context, x *step.IO, records step.Inputs, examples []any) (shownTexts, error) {
	want := shownTexts{}
	for _, e := range examples {
		var shown []dedup.Snapshot
		switch e := e.(type) {
		case dedup.FixedRevision:
			shown = e.Texts[:2]
		case dedup.SharedTitle:
			shown = []dedup.Snapshot{e.A, e.B}
		}
		for _, s := range shown {
			want[exampleKey{s.Split, s.ExampleID}] = ""
		}
	}
	return want, eachRecord(ctx, x, records, func(r *nq.Record) error {
		if _, ok := want[exampleKey{r.Split, r.ExampleID}]; ok {
			want[exampleKey{r.Split, r.ExampleID}] = dedup.FlatText(r, 0)
		}
		return nil
	})
}

func (t shownTexts) contrast(a, b dedup.Snapshot) (string, string) {
	sa, sb, _ := dedup.Contrast(t[exampleKey{a.Split, a.ExampleID}], t[exampleKey{b.Split, b.ExampleID}], dedup.Snippet{})
	return sa, sb
}
