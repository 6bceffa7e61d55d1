package dedup

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/system/testkit"
)

// PaperKeys are the ten operators of tab:dedup-counts in its order.
func PaperKeys() []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Family == CorpusText })
}

const wiki = "https://en.wikipedia.org//w/index.php?title="

var (
	elsaDisney = nq.Header{ExampleID: 1, Split: nq.Train, Question: "who voices elsa", URL: wiki + "Elsa_(Disney)&amp;oldid=801", H1: "Elsa ( Disney )", HasH1: true, Title: "Elsa (Disney)"}
	elsaFrozen = nq.Header{ExampleID: -2, Split: nq.Train, Question: "when was elsa made", URL: wiki + "Elsa_(Frozen)&amp;oldid=802", H1: "Elsa ( Frozen )", HasH1: true}
	villageA   = nq.Header{ExampleID: 3, Split: nq.Train, Question: "it takes a village", URL: wiki + "It_Takes_a_Village&amp;oldid=803", H1: "It Takes a Village", HasH1: true}
	villageB   = nq.Header{ExampleID: 4, Split: nq.Train, Question: "who said it takes a village", URL: wiki + "It_takes_a_village&amp;oldid=804", H1: "It takes a village", HasH1: true}
	seasonT    = nq.Header{ExampleID: 5, Split: nq.Train, Question: "who won in 1918", URL: wiki + "1918%E2%80%9319_season&amp;oldid=805", H1: "1918 -- 19 season", HasH1: true, Title: "1918–19 season"}
	seasonD    = nq.Header{ExampleID: 5, Split: nq.Dev, Question: "who lost in 1918", URL: wiki + "1918%E2%80%9319_season&amp;oldid=806", H1: "1918 -- 19 season", HasH1: true, Title: "1918–19 season"}
	lost       = nq.Header{ExampleID: 6, Split: nq.Dev, Question: "what is lost", URL: wiki + "Elsa_(Disney)&amp;oldid=999", H1: "Elsa ( Disney )", HasH1: true, Title: "Elsa (Disney)"}
	untitled   = nq.Header{ExampleID: 9, Split: nq.Dev, URL: wiki + "Color%5fspace+x&amp;oldid=808", H1: "Colors", HasH1: true}
	escaped    = nq.Header{ExampleID: 8, Split: nq.Train, URL: wiki + "100%2525_A%255Fb+%C3%A9&amp;oldid=998"}
	headless   = nq.Header{ExampleID: 7, Split: nq.Train, Question: "no heading", URL: wiki + "Color%5fspace+x&amp;oldid=807"}

	paperPages = map[uint64]uint64{801: 41312390, 802: 41312390, 803: 2308910, 804: 12185842, 805: 77, 806: 77, 807: 78}
)

func paperHeaders() []nq.Header {
	hs := []nq.Header{seasonD, lost, elsaDisney, elsaFrozen, villageA, villageB, seasonT, headless}
	for i := range hs {
		hs[i].Text4KCased = TextDigest(hs[i].URL, TextLimit, false)
		hs[i].Text4K = TextDigest(hs[i].URL, TextLimit, true)
	}
	return hs
}

func paperSources() Sources {
	return Sources{BertNormalize: bert().Normalize, PageID: lookupIn(paperPages), Text: func(h *nq.Header) (Text, bool) {
		return Text{Digest: TextDigest(h.Question, 0, false), Length: len(h.Question)}, h.Question != ""
	}}
}

func TestKeyStrings(t *testing.T) {
	sum := "ba7816bf8f01cfea414140de5dae2223" // first half of SHA-256("abc")
	withText := nq.Header{Split: nq.Train, Question: "abc", Text4KCased: TextDigest("ABC", 0, false), Text4K: TextDigest("ABC", 0, true)}
	turkish := nq.Header{Split: nq.Train, URL: wiki + "%C4%B0zmir&amp;oldid=1", H1: "İzmir", HasH1: true}
	for _, c := range []struct {
		key  string
		h    nq.Header
		o    Options
		want string
	}{
		{"text4k", withText, Options{}, sum},
		{"text4k_cased", withText, Options{}, "b5d4045c3f466fa91fe2cc6abe79232a"},
		{"corpus_text", withText, Options{}, sum},
		{"url", elsaDisney, Options{}, wiki + "Elsa_(Disney)&amp;oldid=801"},
		{"url_title_cased", villageA, Options{}, "It Takes a Village"},
		{"url_title", villageA, Options{}, "it takes a village"},
		{"url_title_cased", seasonT, Options{}, "1918–19 season"},
		{"url_title_cased", headless, Options{}, "Color space x"},
		{"url_title", turkish, Options{}, "i\u0307zmir"},
		{"h1_cased", elsaDisney, Options{}, "Elsa ( Disney )"},
		{"h1", elsaDisney, Options{}, "elsa ( disney )"},
		{"h1", turkish, Options{}, "i\u0307zmir"},
		{"h1", headless, Options{}, ""},
		{"nci_h1", seasonT, Options{}, "1918 - - 19 season"},
		{"nci_h1", seasonD, Options{}, "1918 - - 19 season"},
		{"title", seasonT, Options{}, "1918 - - 19 season"},
		{"title", seasonD, Options{}, "1918 – 19 season"},
		{"title", elsaDisney, Options{}, "elsa ( disney )"},
		{"title", headless, Options{}, ""},
		{"title", untitled, Options{}, "color space x"},
		{"page_id", elsaDisney, Options{}, "41312390"},
		{"page_id", elsaFrozen, Options{}, "41312390"},
		{"page_id", lost, Options{}, "t:Elsa_(Disney)"},
		{"url_title_cased", escaped, Options{}, "100% A b é"},
		{"page_id", escaped, Options{}, "t:100%25_A%5Fb é"},
		{"page_id", lost, Options{Fallback: FallbackURLTitle}, "t:elsa (disney)"},
		{"page_id", lost, Options{Fallback: FallbackTitle}, "t:elsa ( disney )"},
	} {
		k, err := Lookup(c.key)
		testkit.None(t, err)
		testkit.Of(t, c.want, c.key, c.h.URL)(k.Of(&c.h, c.o, paperSources()))
	}
}

// Of is the key of one record.
func (k Key) Of(h *nq.Header, o Options, s Sources) (string, error) {
	o = o.withDefaults()
	if err := s.check(k, o); err != nil {
		return "", err
	}
	d := derived{o: &o, s: &s}
	d.reset(h)
	b, err := d.appendKey(&k)
	return string(b), err
}

func TestKeyErrors(t *testing.T) {
	noURL := nq.Header{ExampleID: 9, Split: nq.Dev, URL: "https://en.wikipedia.org/wiki/Foo"}
	notUTF8 := nq.Header{Split: nq.Train, H1: "a\xff"}
	for _, c := range []struct {
		key  string
		h    nq.Header
		o    Options
		want error
	}{
		{"text4k", noURL, Options{}, ErrNoTextKey},
		{"text4k_cased", noURL, Options{}, ErrNoTextKey},
		{"corpus_text", noURL, Options{}, ErrNoText},
		{"url_title", noURL, Options{}, ErrNoURLTitle},
		{"page_id", noURL, Options{}, ErrNoURLTitle},
		{"page_id", lost, Options{Fallback: FallbackFail}, ErrNoPage},
		{"title", noURL, Options{}, ErrNoTitle},
		{"h1_cased", notUTF8, Options{}, ErrNotUTF8},
	} {
		k, err := Lookup(c.key)
		testkit.None(t, err)
		_, err = k.Of(&c.h, c.o, paperSources())
		var re *RecordError
		if !errors.Is(err, c.want) || !errors.As(err, &re) || re.Key != c.key || re.ExampleID != c.h.ExampleID {
			t.Errorf("%s of %q: %v, want %v", c.key, c.h.URL, err, c.want)
		}
	}
	testkit.ErrSays(t, testkit.Err(Lookup("pageid")), "page_id")
	for _, c := range []struct {
		key string
		o   Options
		s   Sources
	}{
		{"title", Options{}, Sources{}},
		{"page_id", Options{}, Sources{}},
		{"page_id", Options{Fallback: FallbackTitle}, Sources{PageID: lookupIn(nil)}},
		{"url", Options{Representative: LongestText}, Sources{}},
		{"corpus_text", Options{}, Sources{}},
	} {
		k, _ := Lookup(c.key)
		testkit.Some(t, testkit.Err(k.Of(&elsaDisney, c.o, c.s)), c.key, c.o)
	}
}

func TestRegistry(t *testing.T) {
	var labels []string
	for _, k := range PaperKeys() {
		labels = append(labels, k.Label)
		testkit.That(t, k.Doc != "" && k.Family != "", k.Name, "is not documented")
	}
	want := []string{"Text4K-Cased", "Text4K", "URL", "URLTitle-Cased", "URLTitle", "H1-Cased", "H1", "NciH1", "Title", "PageID"}
	testkit.Deep(t, labels, want, "labels")
	testkit.Is(t, len(Names()), 11, "names", Names())
}

func TestFlatText(t *testing.T) {
	full := nq.Record{Tokens: []nq.Token{
		{Text: "A - Wikipedia"}, {Text: "<H1>", HTML: true}, {Text: "<b>"}, {Text: "</H1>", HTML: true}, {Text: "é"},
	}}
	testkit.Is(t, FlatText(&full, 0), "A_-_Wikipedia <b> é", "full")
	simple := nq.Record{Text: `A_-_Wikipedia <H1> a<b> <Th_colspan="2"> <> <a<b> x > é`}
	testkit.Is(t, FlatText(&simple, 0), "A_-_Wikipedia a<b> <> <a<b> x > é", "simplified")
	// The prefix that stops early has the digest of the full text.
	for _, text := range []string{
		strings.Repeat("é", 2500) + " " + strings.Repeat("İb ", 5000),
		strings.Repeat("A bc ", TextLimit), strings.Repeat("A", TextLimit), strings.Repeat("Z[@`", TextLimit), "É ab" + strings.Repeat("Σ", 2*TextLimit),
	} {
		long := nq.Record{Text: text}
		cased, lower := TextKeys(&long, false)
		whole := FlatText(&long, 0)
		testkit.Is(t, utf8.RuneCountInString(cut(whole, TextLimit)), TextLimit)
		if cased != TextDigest(whole, TextLimit, false) || lower != TextDigest(pytext.Lower(cut(whole, TextLimit)), 0, false) {
			t.Error("the text keys depend on where reading stops")
		}
	}
	if cased, lower := TextKeys(&full, false); cased != TextDigest("A_-_Wikipedia <b> é", 0, false) || lower != TextDigest("a_-_wikipedia <b> é", 0, false) {
		t.Error("the text keys of a short text")
	}
	for _, r := range []nq.Record{full, {Text: strings.Repeat("<Td> Bc_d </Td> ", TextLimit)}} { // with tags it is the simplified text
		text := cmp.Or(r.Text, nq.SimplifiedText(r.Tokens))
		if cased, lower := TextKeys(&r, true); cased != TextDigest(text, TextLimit, false) || lower != TextDigest(text, TextLimit, true) {
			t.Errorf("the text keys of %.30q", text)
		}
	}
	for n, want := range []string{"", "a", "aé", "aéb", "aéb"} {
		testkit.Is(t, cut("aéb", n), want, "cut", n)
	}
}

// No header may make a key panic, and equal headers have equal keys.
func FuzzKeys(f *testing.F) {
	for _, h := range paperHeaders() {
		f.Add(h.URL, h.H1, h.Title, h.Split == nq.Dev)
	}
	f.Add("?title=%&amp;oldid=-1", "İΣ", "\xff", true)
	f.Add("x?title=%e0%A4&oldid=99999999999999999999", "Σ'", "", false)
	f.Fuzz(func(t *testing.T, url, h1, title string, dev bool) {
		h := nq.Header{URL: url, H1: h1, Title: title, Split: nq.Train, Text4K: [16]byte{1}}
		if dev {
			h.Split = nq.Dev
		}
		for _, k := range keys {
			a, err := k.Of(&h, Options{}, paperSources())
			if err != nil {
				var re *RecordError
				if !errors.As(err, &re) {
					t.Fatalf("%s: %v", k.Name, err)
				}
				continue
			}
			b, _ := k.Of(&h, Options{}, paperSources())
			if a != b || !utf8.ValidString(a) {
				t.Fatalf("%s: %q and %q", k.Name, a, b)
			}
		}
		if l := pytext.Lower(h1); utf8.ValidString(h1) && !strings.ContainsAny(h1, "İΣ") && l != strings.ToLower(h1) {
			t.Fatalf("pytext.Lower(%q) = %q", h1, l)
		}
	})
}
