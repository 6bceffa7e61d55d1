package dedup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// randomHeaders makes records that share pages, revisions, titles and texts often.
func randomHeaders(rng *rand.Rand, n int) ([]nq.Header, map[uint64]uint64) {
	pages := map[uint64]uint64{}
	hs := make([]nq.Header, n)
	dev := rng.IntN(n + 1)
	for i := range hs {
		page := rng.IntN(n/3 + 1)
		oldid := uint64(page*4 + rng.IntN(3) + 1)
		if rng.IntN(10) > 0 {
			pages[oldid] = uint64(page/2*2 + 100) // pairs of titles are one page: renames
		}
		title := fmt.Sprintf("Page %d", page*2/3) // titles of several pages
		if rng.IntN(4) == 0 {
			title = strings.ToUpper(title)
		}
		h := nq.Header{ExampleID: int64(i)*7919 - 1000, Split: nq.Train, Question: fmt.Sprintf("q%d", i),
			URL: fmt.Sprintf("https://x/w/index.php?title=%s&amp;oldid=%d", strings.ReplaceAll(title, " ", "_"), oldid)}
		if rng.IntN(20) > 0 {
			h.H1, h.HasH1 = title+" -- a", true
		}
		if h.Title = title + "–a"; i < dev {
			h.Split = nq.Dev
		}
		text := fmt.Sprintf("Text %d", rng.IntN(n/2+1))
		h.Text4KCased, h.Text4K = TextDigest(text, 0, false), TextDigest(strings.ToUpper(text), 0, true)
		hs[i] = h
	}
	return hs, pages
}

// Every count and target is recounted with one map per key, record by record.
func TestGroupingAgainstRecount(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		hs, pages := randomHeaders(rng, 1+rng.IntN(400))
		s := paperSources()
		s.PageID = lookupIn(pages)
		rule := []Representative{First, Last, NewestOldID, OldestOldID, LongestText}[seed%5]
		o := Options{Representative: rule}
		for _, g := range groupAll(t, hs, keys, o, s) {
			keys := make([]string, len(hs))
			union, splits := map[string][]int{}, map[nq.Split]map[string]bool{nq.Train: {}, nq.Dev: {}}
			for i := range hs {
				k, err := g.Key.Of(&hs[i], o, s)
				testkit.None(t, err)
				keys[i] = k
				union[k] = append(union[k], i)
				splits[hs[i].Split][k] = true
			}
			if c, want := g.Counts(), (Counts{Train: len(splits[nq.Train]), Dev: len(splits[nq.Dev]), Union: len(union)}); c != want {
				t.Fatalf("seed %d %s: %+v, want %+v", seed, g.Key.Name, c, want)
			}
			next := int32(0)
			members := g.Members()
			for i := range hs {
				d := g.Document(g.docOf[i])
				if d.Key != keys[i] {
					t.Fatalf("seed %d %s: record %d has key %q, want %q", seed, g.Key.Name, i, d.Key, keys[i])
				}
				if union[keys[i]][0] == i {
					if d.Doc != next {
						t.Fatalf("document %d is not numbered by first occurrence", d.Doc)
					}
					next++
					if want := represent(hs, union[keys[i]], rule); int(g.docs[d.Doc].record) != want || d.ExampleID != hs[want].ExampleID || d.URL != hs[want].URL || d.Split != hs[want].Split {
						t.Fatalf("seed %d %s by %s: record %d represents %v, want %d", seed, g.Key.Name, rule, int(g.docs[d.Doc].record), union[keys[i]], want)
					}
					for j, m := range members[d.Doc] {
						if int(m) != union[keys[i]][j] {
							t.Fatalf("members %v, want %v", members[d.Doc], union[keys[i]])
						}
					}
				}
				if q := g.Query(i); q != (Query{ExampleID: hs[i].ExampleID, Split: hs[i].Split, Question: hs[i].Question, Doc: d.Doc}) {
					t.Fatalf("query %+v", q)
				}
			}
		}
	}
}

// The order of records numbers documents and chooses their first snapshots, and changes nothing else.
func TestRecordOrder(t *testing.T) {
	train, dev := []nq.Header{villageA, seasonT, elsaDisney}, []nq.Header{lost, seasonD}
	url, _ := Lookup("url_title")
	for _, c := range []struct {
		order RecordOrder
		hs    []nq.Header
		keys  []string // of documents, by number
		split nq.Split // of the first snapshot of those in both splits
		docs  []int32  // of records
	}{
		{"", append(dev, train...), []string{"elsa (disney)", "1918–19 season", "it takes a village"}, nq.Dev, []int32{0, 1, 2, 1, 0}},
		{DevFirst, append(dev, train...), []string{"elsa (disney)", "1918–19 season", "it takes a village"}, nq.Dev, []int32{0, 1, 2, 1, 0}},
		{TrainFirst, append(train, dev...), []string{"it takes a village", "1918–19 season", "elsa (disney)"}, nq.Train, []int32{0, 1, 2, 2, 1}},
	} {
		g := groupAll(t, c.hs, []Key{url}, Options{RecordOrder: c.order}, Sources{})[0]
		var keys []string
		for _, d := range documents(g) {
			if keys = append(keys, d.Key); d.Train > 0 && d.Dev > 0 && d.Split != c.split {
				t.Errorf("%q: document %d is represented by a %s record", c.order, d.Doc, d.Split)
			}
		}
		if !slices.Equal(keys, c.keys) || !slices.Equal(g.docOf, c.docs) || g.Counts() != (Counts{Train: 3, Dev: 2, Union: 3}) {
			t.Errorf("%q: documents %q, of records %v, %+v", c.order, keys, g.docOf, g.Counts())
		}
		for i, h := range c.hs {
			if g.Records.Split(i) != h.Split || g.Records.At(i).ExampleID != h.ExampleID {
				t.Errorf("%q: record %d is %+v", c.order, i, g.Records.At(i))
			}
		}
	}
}

// represent applies a rule by looking at all members at once.
func represent(hs []nq.Header, members []int, rule Representative) int {
	score := func(i int) int {
		switch rule {
		case Last:
			return i
		case NewestOldID, OldestOldID:
			var id int
			fmt.Sscanf(hs[i].URL[strings.Index(hs[i].URL, "oldid=")+6:], "%d", &id)
			if rule == OldestOldID {
				return -id
			}
			return id
		case LongestText:
			return len(hs[i].Question)
		}
		return -i
	}
	best := members[0]
	for _, i := range members {
		if score(i) > score(best) {
			best = i
		}
	}
	return best
}

func TestAddRefuses(t *testing.T) {
	url, _ := Lookup("url")
	dev := seasonD
	other := seasonT
	other.ExampleID = 50
	for _, c := range []struct {
		name, want string
		hs         []nq.Header
	}{
		{"dev after train", "dev example 5 comes after train records; documents are numbered dev_first", []nq.Header{other, dev}},
		{"twice", "occurs twice", []nq.Header{other, other}},
		{"no split", `split ""`, []nq.Header{{URL: "u"}}},
	} {
		g, err := NewGrouper(scratch(t), []Key{url}, Options{}, Sources{})
		testkit.None(t, err)
		for i := range c.hs {
			err = g.Add(&c.hs[i])
		}
		if err == nil {
			_, err = g.Groupings()
		}
		testkit.ErrSays(t, err, c.want)
	}
	testkit.ErrSays(t, testkit.Err(NewGrouper(scratch(t), nil, Options{}, Sources{})), "no deduplication key is given")
	testkit.ErrSays(t, testkit.Err(NewGrouper(scratch(t), []Key{url, url}, Options{}, Sources{})), "deduplication key url is given twice")
}

func TestEmptyStream(t *testing.T) {
	gs := groupAll(t, nil, PaperKeys(), Options{}, paperSources())
	for _, g := range gs {
		testkit.Is(t, g.Counts(), Counts{}, g.Key.Name)
		testkit.Is(t, g.Coverage(), Coverage{}, g.Key.Name)
		testkit.None(t, testkit.Err(DiagnoseTitles(g)))
	}
}

func documents(g *Grouping) []Document {
	out := make([]Document, g.Len())
	for i := range out {
		out[i] = g.Document(int32(i))
	}
	return out
}

func scratch(t testing.TB) func() (string, error) {
	return func() (string, error) { return t.TempDir(), nil }
}
