package bm25

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/ranking/topk"
	"github.com/redsi/redsi/internal/system/testkit"
)

// peers is what Lucene, bm25s and rank_bm25 make of texts (tools/golden/bm25.py).
type peers struct {
	Documents, Queries, Odd []string
	Tokens                  map[string][][]string // of Odd, then of Documents
	Rankings                []goldenRanking
}

type goldenRanking struct {
	Peer, Tokenizer, Formula string
	Lengths, Absent          bool
	K1, B, Delta             float64
	Hits                     [][][2]float64 // of queries: document and score
}

func readGolden(t *testing.T) (p *peers) {
	t.Helper()
	goldens.JSON(t, "testdata/golden.json.gz", &p)
	return p
}

// analyzerOf is a tokenizer by its name in the golden.
func analyzerOf(t *testing.T, name string) Analyzer {
	t.Helper()
	switch name {
	case "lucene_english":
		return LuceneEnglish{}
	case "whitespace":
		return Whitespace{}
	}
	parts := append(strings.Split(name, "/"), "", "")
	return testkit.Value(Words(parts[1] != "none", parts[2]))(t)
}

func termsOf(a Analyzer, text string) (out []string) {
	a.Split(text, func(segment string) {
		if term := a.Term(segment); term != "" {
			out = append(out, term)
		}
	})
	return out
}

// TestTokens: every tokenizer gives the tokens of the program that it follows.
func TestTokens(t *testing.T) {
	g := readGolden(t)
	if len(g.Tokens) != 5 {
		t.Fatalf("%d tokenizers", len(g.Tokens))
	}
	texts := append(slices.Clone(g.Odd), g.Documents...)
	for name, want := range g.Tokens {
		a := analyzerOf(t, name)
		for i, text := range texts {
			if got := termsOf(a, text); !slices.Equal(got, want[i]) {
				at := 0
				for at < min(len(got), len(want[i])) && got[at] == want[i][at] {
					at++
				}
				t.Errorf("%s: %.60q: token %d: %+q, want %+q", name, text, at, got[at:min(len(got), at+3)], want[i][at:min(len(want[i]), at+3)])
			}
		}
	}
}

func (r goldenRanking) options() Options {
	return Options{Formula: Formula(r.Formula), K1: r.K1, B: r.B, Delta: r.Delta, LuceneLengths: r.Lengths, Absent: r.Absent}
}

func indexOf(t *testing.T, a Analyzer, documents []string, o Options) *Index {
	t.Helper()
	b := NewBuilder(func() (string, error) { return t.TempDir(), nil }, a)
	for _, d := range documents {
		testkit.None(t, b.Add(d))
	}
	return testkit.Value(b.Finish(o))(t)
}

// TestScores: documents, their order and scores are those of Lucene to the last bit, those of
// bm25s and rank_bm25 in double precision to 1e-12. What has the same score goes by number.
func TestScores(t *testing.T) {
	g := readGolden(t)
	for _, r := range g.Rankings {
		ix := indexOf(t, analyzerOf(t, r.Tokenizer), g.Documents, r.options())
		hits := 0
		for i, query := range g.Queries {
			var want []topk.Hit
			for _, h := range r.Hits[i] {
				if score := h[1]; math.Abs(score) > 1e-12 {
					if r.Peer == "lucene" {
						score = float64(float32(score))
					}
					want = append(want, topk.Hit{Doc: int32(h[0]), Score: score})
				}
			}
			got := ix.NewSearcher().Search(query, len(g.Documents))
			if len(got) != len(want) {
				t.Errorf("%s %s, query %q: %d documents, want %d", r.Peer, r.Formula, query, len(got), len(want))
				continue
			}
			hits += len(got)
			byDoc := map[int32]float64{}
			for _, h := range want {
				byDoc[h.Doc] = h.Score
			}
			for k, h := range got {
				score, ok := byDoc[h.Doc]
				off := math.Abs(h.Score - score)
				if !ok || r.Peer == "lucene" && (off != 0 || h != want[k]) || off > 1e-12*max(1, math.Abs(score)) || math.Abs(h.Score-want[k].Score) > 1e-12*max(1, math.Abs(score)) {
					t.Errorf("%s %s, query %q: rank %d is %v, want %v", r.Peer, r.Formula, query, k+1, h, want[k])
					break
				}
			}
		}
		if hits < 300 {
			t.Errorf("%s %s: only %d hits", r.Peer, r.Formula, hits)
		}
	}
}

// TestStems: stemmers of version 3 give PyStemmer 3.1.0's stems (tools/golden/stems.py), which
// are not all those of the older ones.
func TestStems(t *testing.T) {
	var golden map[string]map[string]string
	goldens.JSON(t, "testdata/stems.json.gz", &golden)
	for _, name := range Stemmers() {
		old, ok := strings.CutSuffix(name, "3")
		if !ok && name != "dutch_porter" {
			continue
		}
		if len(golden[name]) < 500 {
			t.Errorf("%s: %d words", name, len(golden[name]))
		}
		apart := 0
		for word, want := range golden[name] {
			testkit.Is(t, stemmers[name](word), want, name, word)
			if ok && stemmers[old](word) != want {
				apart++
			}
		}
		if ok && apart == 0 {
			t.Errorf("%s: no word is stemmed otherwise than by %s", name, old)
		}
	}
	for _, word := range []string{"", "y", "ß", "ing", "eed", "\xff\xffed", "aa\xffs"} { // no panic
		for _, stem := range stemmers {
			stem(word)
		}
	}
}
