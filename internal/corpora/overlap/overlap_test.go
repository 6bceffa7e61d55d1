package overlap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"Who's the  President?":       "whos the president",
		" who’s the\tpresident ":      "whos the president",
		"who-is (the) president...":   "who is the president",
		"ﬁfth Straße № ½":             "fifth strasse no 1⁄2",
		"ＦＵＬＬ　ＷＩＤＴＨ":                  "full width",
		"ΌΣΟΣ όσος":                   "όσοσ όσοσ",
		"cafe\u0301 CAFÉ":             "café café",
		"C++ and $5":                  "c++ and $5",
		"?!":                          "",
		"":                            "",
		"İstanbul":                    "i̇stanbul",
		"日本の首都は？":                     "日本の首都は",
		"line\nend\x00null\u00a0nbsp": "line end null nbsp",
	} {
		testkit.Is(t, Normal(text), want, text)
		testkit.Is(t, Normal(Normal(text)), Normal(text), text)
	}
}

// patterned are texts of few words, so that many are alike: also some hundreds of one pattern.
func patterned(r *rand.Rand, n int) []string {
	words := strings.Fields("who what where is was the a of in on for capital river king queen song film first last number name year made sings wrote")
	list := make([]string, n)
	for i := range list {
		var t []string
		if i%3 == 0 {
			t = append(strings.Fields("what is the name of the first king in"), fmt.Sprint("place", r.IntN(n)))
		} else {
			for range 1 + r.IntN(9) {
				t = append(t, words[r.IntN(len(words))])
			}
		}
		if i%5 == 0 && i > 0 { // another's, changed a little
			t = strings.Fields(list[r.IntN(i)])
			switch r.IntN(4) {
			case 0:
				t[0] = strings.ToUpper(t[0]) + "!"
			case 1:
				t = append(t, words[r.IntN(len(words))])
			case 2:
				t[r.IntN(len(t))] = words[r.IntN(len(words))]
			}
		}
		list[i] = strings.Join(t, " ")
	}
	return list
}

// bruteSet is a set of shingles as texts.
func bruteSet(text string, n int) map[string]bool {
	w := strings.Fields(Normal(text))
	if len(w) == 0 {
		return nil
	}
	set := map[string]bool{}
	for i := range max(1, len(w)-n+1) {
		set[strings.Join(w[i:min(i+n, len(w))], " ")] = true
	}
	return set
}

func bruteJaccard(a, b map[string]bool) float64 {
	both := 0
	for e := range a {
		if b[e] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// brutePairs compares every query with every one.
func brutePairs(list []Query, near Near) []Pair {
	order := func(q Query) int { return slices.Index(nq.Splits, q.Split) }
	var sets []map[string]bool
	var normals []string
	for _, q := range list {
		sets, normals = append(sets, bruteSet(q.Text, near.Shingle)), append(normals, Normal(q.Text))
	}
	var out []Pair
	for i, q := range list {
		for _, split := range nq.Splits {
			var best Pair
			for j, o := range list {
				if i == j || o.Split != split || order(o) > order(q) || o.Split == q.Split && j > i {
					continue
				}
				c := Pair{Query: i, Other: j, Similarity: 1}
				for _, d := range q.Documents {
					c.SameTarget = c.SameTarget || slices.Contains(o.Documents, d)
				}
				switch {
				case q.Text == o.Text:
					c.Class = Exact
				case normals[i] == normals[j] && normals[i] != "":
					c.Class = Normalised
				case len(sets[i]) == 0 || len(sets[j]) == 0:
					continue
				default:
					c.Class, c.Similarity = NearBy, bruteJaccard(sets[i], sets[j])
					if c.Similarity < near.Threshold {
						continue
					}
				}
				if best.Class == 0 || c.Class < best.Class || c.Class == best.Class && (c.Similarity > best.Similarity || c.Similarity == best.Similarity && c.SameTarget && !best.SameTarget) {
					best = c
				}
			}
			if best.Class != 0 {
				out = append(out, best)
			}
		}
	}
	return out
}

// TestPairs: what is found is what comparing all with all finds.
func TestPairs(t *testing.T) {
	for _, near := range []Near{{0.8, 1, 42}, {0.6, 2, 1}, {1, 1, 7}, {0.3, 1, 3}, {0.5, 3, 9}} {
		t.Run(fmt.Sprint(near), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(near.Seed), 0))
			qs := NewQueries()
			for i, text := range patterned(r, 900) {
				q := dedup.Query{ExampleID: int64(i), Split: nq.Splits[r.IntN(3)], Question: text, Doc: int32(r.IntN(40))}
				for range 1 + r.IntN(2) {
					testkit.None(t, qs.Add(&q))
					q.Doc = int32(40 + r.IntN(40))
				}
			}
			got, want := qs.Pairs(near), brutePairs(qs.List, near)
			if len(qs.List) != 900 || len(want) < 200 {
				t.Fatalf("%d queries, %d pairs", len(qs.List), len(want))
			}
			// Of pairs that are at the threshold, one of ten thousand may be missed.
			testkit.Deep(t, got, want)
		})
	}
}

// TestManyOfOnePattern: what is left out is counted, and all that have a near one have one.
func TestManyOfOnePattern(t *testing.T) {
	qs := NewQueries()
	const n = manyPairs * 3 / 2
	for i := range n {
		testkit.None(t, qs.Add(&dedup.Query{ExampleID: int64(i), Split: nq.Train, Question: fmt.Sprint("what is the name of the first king in place", i), Doc: int32(i)}))
	}
	if pairs := qs.Pairs(Near{0.8, 1, 42}); len(pairs) != n-1 || qs.Left == 0 || pairs[n-2].Other != 0 {
		t.Errorf("%d pairs, %d left out", len(pairs), qs.Left)
	}
}

func TestPairsChoose(t *testing.T) {
	qs := NewQueries()
	for i, q := range []dedup.Query{
		{Split: nq.Test, Question: "Who sings it?", Doc: 1},
		{Split: nq.Train, Question: "who sings it", Doc: 2},
		{Split: nq.Train, Question: "who sings it", Doc: 1},
		{Split: nq.Test, Question: "...", Doc: 1},
		{Split: nq.Train, Question: "!", Doc: 1},
		{Split: nq.Dev, Question: "who sings it", Doc: 9},
	} {
		q.ExampleID = int64(i)
		testkit.None(t, qs.Add(&q))
	}
	want := []Pair{
		{0, 2, Normalised, 1, true}, {0, 5, Normalised, 1, false}, // with the same target, of each split
		{2, 1, Exact, 1, false}, // twice in its own
		{5, 1, Exact, 1, false},
	}
	testkit.Deep(t, qs.Pairs(Near{0.8, 1, 42}), want)
	testkit.ErrSays(t, qs.Add(&dedup.Query{Split: "validation"}), `split "validation"`)
	testkit.Is(t, len(NewQueries().Pairs(Near{0.8, 1, 42})), 0)
}

// TestDocuments: as comparing all with all finds them.
func TestDocuments(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	near := Near{0.7, 2, 42}
	texts := patterned(r, 500)
	for i := range texts { // longer: three of them each
		if i%4 != 0 {
			texts[i] += " " + texts[r.IntN(len(texts))]
		}
	}
	qs := NewQueries()
	for i := range 300 {
		from := r.IntN(len(texts))
		w := strings.Fields(Normal(texts[from]))
		if len(w) == 0 {
			continue
		}
		at := r.IntN(len(w))
		q := dedup.Query{ExampleID: int64(i), Split: nq.Dev, Question: strings.ToUpper(strings.Join(w[at:min(len(w), at+2+r.IntN(6))], "  ")) + "?", Doc: int32(2 * (from + i%2))}
		testkit.None(t, qs.Add(&q))
	}
	ds := NewDocuments(near, qs, 3)
	for i, text := range texts {
		ds.Add(int32(2*i), text) // numbers have gaps
	}
	wanted := ds.Wanted()
	for i, text := range texts {
		if wanted[int32(2*i)] {
			ds.Load(int32(2*i), text)
		}
	}
	var normals []string
	var sets []map[string]bool
	for _, text := range texts {
		normals, sets = append(normals, Normal(text)), append(sets, bruteSet(text, 2))
	}
	var want []DocumentPair
	for i, a := range texts {
		var best DocumentPair
		for j, b := range texts[:i] {
			c := DocumentPair{Doc: int32(2 * i), Other: int32(2 * j), Similarity: 1}
			switch {
			case a == b:
				c.Class = Exact
			case normals[i] == normals[j]:
				c.Class = Normalised
			default:
				c.Class, c.Similarity = NearBy, bruteJaccard(sets[i], sets[j])
				if c.Similarity < near.Threshold {
					continue
				}
			}
			if best.Class == 0 || c.Class < best.Class || c.Class == best.Class && c.Similarity > best.Similarity {
				best = c
			}
		}
		if best.Class != 0 {
			want = append(want, best)
		}
	}
	if diff := cmp.Diff(want, ds.Pairs()); diff != "" || len(want) < 50 {
		t.Errorf("%d pairs (-brute +got):\n%s", len(want), diff)
	}

	var standing []Standing
	sought := 0
	for i, q := range qs.List {
		n := Normal(q.Text)
		if strings.Count(n, " ") < 2 {
			continue
		}
		sought++
		s := Standing{Query: i}
		for j, text := range normals {
			if !strings.Contains(" "+text+" ", " "+n+" ") {
				continue
			}
			relevant := slices.Contains(q.Documents, int32(2*j))
			if s.Documents++; s.Documents == 1 || relevant && !s.SameTarget {
				s.Doc, s.SameTarget = int32(2*j), relevant
			}
		}
		if s.Documents > 0 {
			standing = append(standing, s)
		}
	}
	if diff := cmp.Diff(standing, ds.Standing()); diff != "" || len(standing) < 50 || ds.Sought() != sought {
		t.Errorf("%d of %d stand in documents (-brute +got):\n%s", len(standing), sought, diff)
	}
}
