package dedup

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

func TestTitlesOfThePaper(t *testing.T) {
	gs := groupAll(t, paperHeaders(), PaperKeys(), Options{}, paperSources())
	titles, err := DiagnoseTitles(byName(t, gs, "title"))
	testkit.None(t, err)
	elsa, err := titles.Fragment("Elsa (Frozen)")
	testkit.None(t, err)
	if elsa.PageID != 41312390 || elsa.Records != 2 || elsa.Names[0].Title != "Elsa (Disney)" || elsa.Names[1].Title != "Elsa (Frozen)" {
		t.Errorf("%+v", elsa)
	}
	village, err := titles.Collision("It takes a village")
	testkit.None(t, err)
	if village.Names[0].Title != "It Takes a Village" || village.Names[0].PageID != 2308910 ||
		village.Names[1].Title != "It takes a village" || village.Names[1].PageID != 12185842 {
		t.Errorf("%+v", village)
	}
	// Elsa, and the season, which the two splits spell differently.
	if len(titles.Fragmented) != 2 || len(titles.Colliding) != 1 || titles.CollidingPages() != 2 {
		t.Errorf("fragmented %+v, colliding %+v", titles.Fragmented, titles.Colliding)
	}
	if of := titles.Affected(); of[nq.Train] != (Affected{5, 6, 500. / 6}) || of[nq.Dev] != (Affected{1, 2, 50}) {
		t.Errorf("affected %+v", of)
	}
	testkit.ErrSays(t, testkit.Err(titles.Fragment("It takes a village")), "no fragmented page is titled")
	testkit.ErrSays(t, testkit.Err(titles.Collision("Elsa (Frozen)")), "no title key collides")
	// One definition of the title for both splits leaves only the rename.
	one, err := DiagnoseTitles(byName(t, gs, "nci_h1"))
	testkit.None(t, err, one.Fragmented)
	testkit.Is(t, len(one.Fragmented), 1, one.Fragmented)
	d, err := Diagnose(byName(t, gs, "title"), byName(t, gs, "page_id"), 1)
	testkit.None(t, err)
	if want := (Diagnostics{
		Operator: "title", Reference: "page_id", FragmentedPages: 2, CollidingKeys: 1, CollidingPages: 2,
		Affected:          titles.Affected(),
		Coverage:          Coverage{DevTargets: 2, InTrain: 1, Percent: 50, TrainQueries: 1, DevQueries: 1},
		ReferenceCoverage: Coverage{DevTargets: 2, InTrain: 1, Percent: 50, TrainQueries: 1, DevQueries: 1},
		Fragments:         titles.Fragmented[:1], Collisions: titles.Colliding,
	}); !reflect.DeepEqual(d, want) {
		t.Errorf("%+v\nwant %+v", d, want)
	}
	testkit.ErrSays(t, testkit.Err(Diagnose(byName(t, gs, "title"), pageGrouping(t), 1)), "come from different passes")
	testkit.Is(t, byName(t, gs, "h1").Empty(), 1, "records without heading")
	noPages, _ := Lookup("url_title")
	if _, err := DiagnoseTitles(groupAll(t, paperHeaders(), []Key{noPages}, Options{}, Sources{})[0]); !errors.Is(err, ErrNoPages) {
		t.Errorf("without pages: %v", err)
	}
}

// All diagnostics recomputed, by comparing every record with every other.
func TestDiagnosticsAgainstRecount(t *testing.T) {
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 2))
		hs, pages := randomHeaders(rng, 1+rng.IntN(150))
		s := paperSources()
		s.PageID = lookupIn(pages)
		g := byName(t, groupAll(t, hs, PaperKeys(), Options{}, s), "title")
		titles, err := DiagnoseTitles(g)
		if errors.Is(err, ErrNoPages) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		page := func(i int) uint64 { return g.Records.At(i).PageID }
		key := func(i int) string { return g.KeyOf(g.docOf[i]) }
		fragmented, colliding, collidingPages := map[uint64]bool{}, map[string]bool{}, map[uint64]bool{}
		for i := range hs {
			for j := range hs {
				if page(i) == 0 || page(j) == 0 {
					continue
				}
				if page(i) == page(j) && key(i) != key(j) {
					fragmented[page(i)] = true
				}
				if page(i) != page(j) && key(i) == key(j) {
					colliding[key(i)], collidingPages[page(i)] = true, true
				}
			}
		}
		affected := map[nq.Split]int{}
		for i := range hs {
			if page(i) != 0 && fragmented[page(i)] || colliding[key(i)] {
				affected[hs[i].Split]++
			}
		}
		found := titles.Affected()
		if len(titles.Fragmented) != len(fragmented) || len(titles.Colliding) != len(colliding) ||
			titles.CollidingPages() != len(collidingPages) || found[nq.Train].Queries != affected[nq.Train] || found[nq.Dev].Queries != affected[nq.Dev] {
			t.Fatalf("seed %d: %d %d %d %+v, want %d %d %d %v", seed, len(titles.Fragmented), len(titles.Colliding),
				titles.CollidingPages(), found, len(fragmented), len(colliding), len(collidingPages), affected)
		}
		var c Coverage
		inTrain, inDev := map[string]bool{}, map[string]bool{}
		for i := range hs {
			map[nq.Split]map[string]bool{nq.Train: inTrain, nq.Dev: inDev}[hs[i].Split][key(i)] = true
		}
		for k := range inDev {
			c.DevTargets++
			if inTrain[k] {
				c.InTrain++
			}
		}
		for i := range hs {
			if hs[i].Split == nq.Train && inDev[key(i)] {
				c.TrainQueries++
			}
			if hs[i].Split == nq.Dev && inTrain[key(i)] {
				c.DevQueries++
			}
		}
		if c.DevTargets > 0 {
			c.Percent = 100 * float64(c.InTrain) / float64(c.DevTargets)
		}
		if got := g.Coverage(); got != c {
			t.Fatalf("coverage %+v, want %+v", got, c)
		}
		if counts := g.Counts(); c.InTrain != counts.Train+counts.Dev-counts.Union {
			t.Fatalf("coverage %+v does not follow from counts %+v", c, counts)
		}
	}
}

func TestSharedTitles(t *testing.T) {
	url := func(title string, oldid string) string { return wiki + title + "&amp;oldid=" + oldid }
	prefix := func(s string) [16]byte { return TextDigest(s, 0, false) }
	hs := []nq.Header{
		{ExampleID: 1, Split: nq.Train, URL: url("John_Wick", "843537108"), Text4KCased: prefix("franchise")},
		{ExampleID: 2, Split: nq.Train, URL: url("John_Wick", "804434627"), Text4KCased: prefix("film")},
		{ExampleID: 3, Split: nq.Train, URL: url("Same", "1"), Text4KCased: prefix("x")},
		{ExampleID: 4, Split: nq.Train, URL: url("Same", "2"), Text4KCased: prefix("x")},
		{ExampleID: 5, Split: nq.Train, URL: url("Once", "3"), Text4KCased: prefix("y")},
		{ExampleID: 6, Split: nq.Dev, URL: url("John_Wick", "843537108"), Text4KCased: prefix("franchise")},
		{ExampleID: 7, Split: nq.Dev, URL: url("John_Wick", "x"), Text4KCased: prefix("z")},
	}
	k, _ := Lookup("url_title_cased")
	g := groupAll(t, hs, []Key{k}, Options{RecordOrder: TrainFirst}, Sources{})[0]
	want := SharedTitle{Title: "John Wick", Key: "John Wick", Revisions: 2, Records: 4,
		A: Snapshot{2, nq.Train, 804434627}, B: Snapshot{1, nq.Train, 843537108}}
	testkit.Deep(t, SharedTitles(g), []SharedTitle{want})
	testkit.Of(t, want)(SharedTitleOf(g, 804434627, 843537108))
	testkit.ErrSays(t, testkit.Err(SharedTitleOf(g, 1, 99)), "no record has revision 99")
	testkit.ErrSays(t, testkit.Err(SharedTitleOf(g, 99, 1)), "no record has revision 99")
	testkit.ErrSays(t, testkit.Err(SharedTitleOf(g, 1, 3)), "do not share a ")
}

func TestRevisions(t *testing.T) {
	a, b, c := TextDigest("a", 0, false), TextDigest("b", 0, false), TextDigest("c", 0, false)
	v := NewRevisions()
	for i, r := range []struct {
		title  string
		oldid  uint64
		digest [16]byte
	}{
		{"We Are the World", 815185445, a}, {"We Are the World", 815185445, b}, {"We Are the World", 815185445, a},
		{"Three", 5, a}, {"Three", 5, b}, {"Three", 5, c}, {"One", 6, a}, {"Two", 4, a}, {"Two", 4, c},
	} {
		v.Add(r.title, Snapshot{int64(i), nq.Train, r.oldid}, r.digest)
	}
	s := v.Summary()
	if s.Records != 9 || s.Revisions != 4 || s.Texts != 3 || len(s.Varying) != 3 {
		t.Fatalf("%+v", s)
	}
	var order []string
	for _, f := range s.Varying {
		order = append(order, f.Title)
	}
	testkit.Is(t, strings.Join(order, ", "), "Three, We Are the World, Two", "order", order)
	f, err := s.Of(815185445)
	if err != nil || f.Records != 3 || !reflect.DeepEqual(f.Texts, []Snapshot{{0, nq.Train, 815185445}, {1, nq.Train, 815185445}}) {
		t.Errorf("%+v, %v", f, err)
	}
	testkit.ErrSays(t, testkit.Err(s.Of(6)), "revision 6")
}

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b, wantA, wantB string
	}{
		{a: "It was a hit . It raised over $ 63 million ( equivalent to $ 141 million today ) for aid .",
			b:     "It was a hit . It raised over $ 63 million ( equivalent to $ 138 million today ) for aid .",
			wantA: "…million ( equivalent to $ 141 million today ) for aid .", wantB: "…million ( equivalent to $ 138 million today ) for aid ."},
		{a: "This article is about the 2014 film of that name , which won a prize . For", b: "This article is about the action film franchise .",
			wantA: "This article is about the 2014 film of that name , which…", wantB: "This article is about the action film franchise ."},
		{a: "One. Two b", b: "One. Two  c", wantA: "…Two b", wantB: "…Two c"},
		{a: "a b", b: "a b c", wantA: "a b", wantB: "a b c"},
		{a: "", b: "x", wantA: "", wantB: "x"},
	} {
		a, b, ok := Contrast(c.a, c.b)
		testkit.That(t, ok && a == c.wantA && b == c.wantB, a, b, "want", c.wantA, c.wantB)
	}
	if _, _, ok := Contrast("a  b ", " a\u00a0b"); ok {
		t.Error("texts that differ in white space only")
	}
}

func TestPrefixes(t *testing.T) {
	r := PrefixReport{Tokens: 3}
	r.Add([]int32{5, 6, 7, 8}, []int32{5, 6, 7, 9}, 2)
	r.Add([]int32{5, 2}, []int32{5}, 2)
	r.Add([]int32{5, 6, 7, 2}, []int32{2, 6, 7}, 2)
	r.Add(nil, nil, 2)
	testkit.Is(t, r, PrefixReport{3, 4, 2, 50, 1, 25, 1, 25})
}
