package nq

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/internal/system/values"
)

// lines returns the decompressed lines of a file in testdata.
func lines(tb testing.TB, file string) [][]byte {
	tb.Helper()
	return bytes.Split(bytes.TrimSpace(goldens.Text(tb, "testdata/"+file)), []byte("\n"))
}

// TestFieldTable is tab:nq-format-fields, from the real record in both formats.
func TestFieldTable(t *testing.T) {
	count := func(file string) FieldCounts {
		var c FieldCounts
		for _, l := range lines(t, file) {
			testkit.None(t, c.Count(l))
		}
		return c
	}
	full, simplified := count("nq-full-walking-dead.jsonl.gz"), count("nq-simplified-walking-dead.jsonl.gz")
	want := map[Field][2]int64{
		nameExampleID: {1, 1}, nameQuestion: {1, 1}, nameQuestionTokens: {1, 0}, nameURL: {1, 1},
		nameTitle: {1, 0}, nameHTML: {1, 0}, nameTokens: {1, 0}, nameText: {0, 1},
		TokenBytes: {1, 0}, LongAnswerToken: {1, 1}, LongAnswerBytes: {1, 0},
		ShortAnswerToken: {1, 1}, ShortAnswerBytes: {1, 0},
	}
	for _, f := range AllFields {
		testkit.Is(t, [2]int64{full.With[f], simplified.With[f]}, want[f], f)
	}
	values.Add(&full, simplified)
	testkit.Is(t, full.Records, 2, "merged", full)
	testkit.Is(t, full.With[nameURL], 2, "merged", full)
}

func TestSubstitutionsOfTheRealRecord(t *testing.T) {
	records, _ := readAll(t, "nq-full-walking-dead.jsonl.gz", Options{})
	var s Substitutions
	s.Add(records[0])
	if s.Compared != 5513 || s.Mismatches != 389 || len(s.Pairs()) != 7 {
		t.Errorf("%d of %d differ in %d pairs, want 389 of 5513 in 7", s.Mismatches, s.Compared, len(s.Pairs()))
	}
	rep := s.Report(10, func(s string) bool { return s == "``" })
	b, err := json.MarshalIndent(rep, "", " ")
	testkit.None(t, err)
	goldens.Same(t, "testdata/substitutions.golden", string(b)+"\n")
}

func TestSubstitutionsMatchRules(t *testing.T) {
	for _, c := range []struct {
		span, token string
		want        []SubstitutionCount
	}{
		{"The", "the", nil},
		{"&amp;", "&", nil},
		{"&amp;", "&amp;", nil},
		{"&lt;b", "&lt;B", nil},
		{"é", "É", nil},
		{"–", "--", []SubstitutionCount{{Substitution{"–", "--"}, 1, 1}}},
		{"&ndash;", "--", []SubstitutionCount{{Substitution{"–", "--"}, 1, 1}}},
		{"&quot;", "``", []SubstitutionCount{{Substitution{`"`, "``"}, 1, 1}}},
		{"&#91;", "(", []SubstitutionCount{{Substitution{"[", "("}, 1, 1}}},
		{"’S", "'s", []SubstitutionCount{{Substitution{"’S", "'s"}, 1, 1}}},
		{"a<b>c", "ac", []SubstitutionCount{{Substitution{"a<b>c", "ac"}, 1, 1}}},
	} {
		var s Substitutions
		s.Add(&Record{HTML: []byte(c.span), Tokens: []Token{
			{Text: "<P>", HTML: true}, {Text: c.token, End: int32(len(c.span))},
		}})
		if d := cmp.Diff(append([]SubstitutionCount{}, c.want...), s.Pairs()); d != "" || s.Compared != 1 {
			t.Errorf("%q as %q: %s", c.span, c.token, d)
		}
	}
}

func TestFormats(t *testing.T) {
	full, _ := readAll(t, "real-pages-train-full.jsonl.gz", Options{})
	simplified, _ := readAll(t, "real-pages-train-simplified.jsonl.gz", Options{})
	other := simplified[0].Clone()
	other.Text = other.Text[:10] + "x" + other.Text[11:]
	f := NewFormats(20)
	for _, r := range full {
		testkit.None(t, f.AddFull(r))
	}
	for _, r := range append(simplified[1:], other) {
		testkit.None(t, f.AddSimplified(r))
	}
	testkit.None(t, f.Show(full[0]))
	n := len(full)
	want := FormatReport{Full: n, Simplified: n, Both: n, Same: n - 1, Texts: 1, Examples: []FormatExample{{full[0].ExampleID, Comparison{true, true, false, 10}}}}
	testkit.Deep(t, f.Report(), want)
	if f.AddFull(simplified[1]) == nil || f.AddSimplified(full[0]) == nil {
		t.Error("a record of the other format was taken")
	}
}
