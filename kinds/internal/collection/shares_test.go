package collection

import (
	"testing"

	"github.com/redsi/redsi/internal/ranking/significance"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestShareVerdicts: what 300 clusters of two records, of which 60 have a thing in both, say of
// a paper's number, for each way in which it can be compared. The interval is about 16 to 24.
func TestShareVerdicts(t *testing.T) {
	stratum := func(have, n int, fraction float64) []significance.Stratum {
		s := significance.Stratum{Fraction: fraction}
		for i := range n {
			s.Above, s.Below = append(s.Above, 2*one(i < have)), append(s.Below, 2)
		}
		return []significance.Stratum{s}
	}
	sampled, whole := stratum(60, 300, 0.02), stratum(60, 300, 1)
	for _, c := range []struct {
		strata        []significance.Stratum
		how           how
		paper         string
		excess        float64
		said, verdict string
	}{
		{sampled, part, "20.4", 0, "random part", inside},
		{sampled, part, "15.1", 0, "random part", outside},
		{sampled, part, "25.2", 0, "random part", outside},
		{stratum(9, 300, 0.02), part, "3", 0, "9 clusters have it", untold},
		{stratum(299, 300, 0.02), part, "3", 0, "1 cluster lacks it", untold},
		{whole, entire, "20", 0, "whole", inside},
		{whole, entire, "20.1", 0, "whole", outside},
		{whole, entire, "1/5", 0, "whole", inside},
		{whole, entire, "10001/50000", 0, "whole", outside},
		{sampled, grows, "99", 0, "grows with the records", consistent},
		{sampled, grows, "16.8", 0, "grows with the records", consistent},
		{sampled, grows, "12", 0, "grows with the records", outside},
		{stratum(3, 300, 0.02), grows, "0.1", 0, "3 clusters have it", untold},
		{whole, grows, "20", 0, "grows with the records", consistent},
		{whole, grows, "19", 0, "grows with the records", outside},
		{sampled, falls, "1", 0, "falls with the records", consistent},
		{sampled, falls, "28", 0, "falls with the records", outside},
		{sampled, documents, "20", 2, "documents by their records", inside},
		{sampled, documents, "40", 2, "documents by their records", untold},
		{sampled, documents, "60", 2, "documents by their records", outside},
		{sampled, documents, "60", 0, "documents by their records", untold},
		{nil, part, "60", 0, "grows and falls with the records", untold},
	} {
		s := estimate(c.strata, c.how, SharesConfig{Confidence: 0.95, Samples: 2000, Seed: 1}, 0)
		p := testkit.Value(readPrinted(c.paper))(t)
		if s.judge(p, c.excess); s.How != c.said || s.Verdict != c.verdict {
			t.Errorf("%s of %s: %+v, low %v, high %v, want %s, %s", c.how, c.paper, s, s.Low, s.High, c.said, c.verdict)
		}
	}
}

// TestPrinted: a printed number stands for what rounds to it.
func TestPrinted(t *testing.T) {
	for text, want := range map[string]printed{"3.47": {3.47, 0.005}, "75.3": {75.3, 0.05}, "8": {8, 0.5}, "2.50": {2.5, 0.005}, "1/8": {12.5, 0}} {
		if got, err := readPrinted(text); err != nil || got.value != want.value || got.half-want.half > 1e-15 || want.half-got.half > 1e-15 {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "1e3", "NaN", "Inf", "0x1p3", "1_0", "1/0", "1/", "/2", "1/2/3", "-1/2", "1.5/2"} {
		if got, err := readPrinted(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
