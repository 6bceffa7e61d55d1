package synth

import (
	"maps"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestTruth reads the files back for what the pipeline does not compare with the truth: texts and
// tokens of each split, and dumps of several parts. TestPipelineFindsTheTruth in internal/cli has
// the documents under each key, titles, revisions, substitutions and openings.
func TestTruth(t *testing.T) {
	many := Default()
	many.Seed, many.Pages, many.TrainQuestions, many.DevQuestions = 7, 150, 200, 90
	many.StubParts, many.StubRevisionsPerPage, many.TrainShards, many.DevShards = 3, 0, 3, 5
	for name, c := range map[string]corpus{"default": defaultCorpus(), "many": generate(t, many)} {
		t.Run(name, func(t *testing.T) {
			testkit.Deep(t, c.dump(t), c.truth.Stub)
			var records, tokens Counts
			var texts [2]map[string]bool
			for dev, kind := range []string{KindTrain, KindDev} {
				texts[dev] = map[string]bool{}
				list := c.examples(t, kind)
				for _, e := range list {
					records.add(dev == 1)
					var flat []string
					for _, tok := range e.Tokens {
						flat = append(flat, tok.Text)
						tokens.add(dev == 1)
					}
					texts[dev][strings.Join(flat, " ")] = true
				}
			}
			distinct := Counts{Train: len(texts[0]), Dev: len(texts[1])}
			maps.Copy(texts[0], texts[1])
			distinct.Union = len(texts[0])
			if records != c.truth.Records || tokens != c.truth.Tokens || distinct != c.truth.Texts {
				t.Errorf("counted %+v records, %+v tokens, %+v texts; truth %+v", records, tokens, distinct, c.truth)
			}
		})
	}
}

// TestDesigns checks that the default corpus shows each design's effect.
func TestDesigns(t *testing.T) {
	truth := defaultCorpus().truth
	d := truth.Documents
	for _, less := range [][2]Key{
		{Text4K, Text4KCased}, {URLTitle, URLTitleCased}, {H1, H1Cased}, {NciH1, H1}, {NciH1, Title},
	} {
		if d[less[0]].Union >= d[less[1]].Union {
			t.Errorf("%s has %d documents, %s %d", less[0], d[less[0]].Union, less[1], d[less[1]].Union)
		}
	}
	if d[Text4K].Union >= d[URL].Union {
		t.Error("no edits after 4,000 characters")
	}
	for name, n := range map[string]int{
		"title fragments without a rename": truth.Titles[Title].Fragmented - truth.Titles[NciH1].Fragmented,
		"collisions":                       truth.Titles[Title].Collisions,
		"varying revisions":                truth.VaryingRevisions,
		"unresolved":                       truth.Revisions.UnresolvedRecords.Train,
		"pronunciations":                   truth.HTMLNorm.PronunciationRemoved.Union,
		"redirects":                        truth.Stub.Redirects,
	} {
		if n <= 0 {
			t.Errorf("the default corpus has no %s", name)
		}
	}
}
