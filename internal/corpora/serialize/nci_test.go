package serialize

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

func simple(split nq.Split, text string) *nq.Record {
	return &nq.Record{ExampleID: 1, Split: split, Text: text}
}

// tokens builds a full record from stored tokens; "<…>" are HTML.
func tokens(split nq.Split, title string, stored ...string) *nq.Record {
	r := &nq.Record{ExampleID: 1, Split: split, Title: title, HTML: []byte("x")}
	for _, s := range stored {
		r.Tokens = append(r.Tokens, nq.Token{Text: s, HTML: strings.HasPrefix(s, "<")})
	}
	return r
}

func TestNCI(t *testing.T) {
	const doc = "A b - wikipedia <H1> A B </H1> Jump <P> One <B> two </P> three <Ul> <Li> 4 </Li> </Ul> five <Ul> 6 </Ul> seven <Ul> 8 </Ul> nine"
	for _, tt := range []struct {
		name        string
		record      *nq.Record
		simple, nci string
	}{
		{"train", simple(nq.Train, doc), " A B  One <B> two three 4 five 6", "A B One <B> two "},
		{"one list end", simple(nq.Train, "<H1> T </H1> <P> a </P> b <Ul> c </Ul> d"), " T  a b c", "T a "},
		{"no list end", simple(nq.Train, "<H1> T </H1> <P> a </P> b <Li> c"), " T  a b c", "T a "},
		{"list ends before the abstract", simple(nq.Train, "<H1> T </H1> <Ul> x </Ul> <Ul> y </Ul> <P> a </P> b"), " T  a ", "T a "},
		{"no paragraph", simple(nq.Train, "<H1> T </H1> a"), " T T a", "T"},
		{"empty paragraph", simple(nq.Train, "<H1> T </H1> <P> </P> b"), " T  b", "T "},
		{"end of a paragraph before it", simple(nq.Train, "<H1> T </H1> x </P> y <P> z </P> a"), " T  z a", "T z "},
		{"paragraph without an end", simple(nq.Train, "<H1> T </H1> x </P> y <P> z"), " T T x y z", "T"},
		{"no heading", simple(nq.Train, "<P> a </P> b"), " a b", " a "},
		{"no train split: as train", simple("", "<H1> T </H1> <P> a </P>"), " T  a ", "T a "},
		{"dev takes document_title", tokens(nq.Dev, " Stored", "<H1>", "T", "</H1>", "<P>", "a b", "</P>", "c"), " Stored a_b c", "Stored a_b "},
		{"train joins blanks inside a token", tokens(nq.Train, "Stored", "<H1>", "T", "</H1>", "<P>", "a b", "</P>", "c"), " T  a_b c", "T a_b "},
		{"markup with attributes", tokens(nq.Train, "", "<H1>", "T", "</H1>", "<P>", "a", "</P>", "<Th colspan=\"2\">", "b", "</Th>"), " T  a b", "T a "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Is(t, document(t, newSerializer(t, SimpleNorm, nil), tt.record).String(), tt.simple, "SimpleNorm")
			testkit.Is(t, document(t, newSerializer(t, NciNorm, nil), tt.record).String(), tt.nci, "NciNorm")
		})
	}
}

func TestNCITitle(t *testing.T) {
	r := tokens(nq.Dev, "Stored", "<H1>", "T", "</H1>")
	h1 := newSerializer(t, NciNorm, func(o *Options) { o.NCITitle = "h1" })
	testkit.Is(t, document(t, h1, r).Title, "T", "h1")
	r.Split = nq.Train
	stored := newSerializer(t, NciNorm, func(o *Options) { o.NCITitle = "document_title" })
	testkit.Is(t, document(t, stored, r).Title, "Stored", "document_title")
	normalized := newSerializer(t, NciNorm, func(o *Options) { o.NCINormalizeTitle = true })
	if got := document(t, normalized, simple(nq.Train, "<H1> T  B </H1> <P> a </P>")).String(); got != "t b a " {
		t.Errorf("normalized: %q", got)
	}
	none := document(t, stored, simple(nq.Train, "<P> a </P>"))
	testkit.That(t, none.Title == "" && none.Removed.NoTitle, "none", none)
}

// The hand-written search is the notebook's regular expression.
func TestNCIContent(t *testing.T) {
	tag := regexp.MustCompile(`<[^<]+?>`)
	blanks := regexp.MustCompile(` +`)
	for _, s := range []string{"", "<", "<>", "<>a>b", "a < b > c", "a <<b>> c", "<b", "<b>", "a>b<c", "<<<", "< >", "<a\n>x\ny", "  a   b ", "\u00a0a\u2003", "<>", "<>>", "<a><b>"} {
		want := blanks.ReplaceAllString(strings.TrimFunc(strings.ReplaceAll(tag.ReplaceAllString(s, ""), "\n", ""), isPythonSpace), " ")
		testkit.Is(t, nciContent(s), want, s)
	}
}

func TestSimplified(t *testing.T) {
	s := newSerializer(t, Simplified, nil)
	for _, tt := range []struct {
		record *nq.Record
		want   string
		tags   int
	}{
		{simple(nq.Train, "A - wikipedia <H1> A </H1> b <Th_colspan=\"2\"> c"), "A - wikipedia A b c", 3},
		{simple(nq.Train, "a < b > c <<x>> <>"), "a < b > c <<x>> <>", 0},
		{tokens(nq.Train, "", "A", "<H1>", "b c", "</H1>", "d"), "A b_c d", 2},
	} {
		got := document(t, s, tt.record)
		testkit.Is(t, got.String(), tt.want)
		testkit.Is(t, got.Removed.Tags, tt.tags)
	}
}

func TestSimplifiedTags(t *testing.T) {
	s := newSerializer(t, SimplifiedTags, nil)
	for _, tt := range []struct {
		record *nq.Record
		want   string
	}{
		{simple(nq.Train, "A <H1> A </H1> b <Th_colspan=\"2\"> c"), "A <H1> A </H1> b <Th_colspan=\"2\"> c"},
		{tokens(nq.Dev, "", "A", "<H1>", "b c", "</H1>", "<Th colspan=\"2\">"), "A <H1> b_c </H1> <Th_colspan=\"2\">"},
	} {
		if got := document(t, s, tt.record); got.String() != tt.want || got.Body != tt.want {
			t.Errorf("%q, want %q", got.String(), tt.want)
		}
	}
}

// The simplified form of the full and of the simplified record agree, and Text4K
// of it is the key that package dedup compares.
func TestSimplifiedOfBothFormats(t *testing.T) {
	full := records(t, "nq-full-walking-dead.jsonl.gz", nq.Train)[0]
	short := records(t, "nq-simplified-walking-dead.jsonl.gz", nq.Train)[0]
	for _, form := range []Form{SimplifiedTags, Simplified, SimpleNorm, NciNorm} {
		s := newSerializer(t, form, nil)
		if a, b := document(t, s, full).String(), document(t, s, short).String(); a != b {
			t.Errorf("%s differs between the formats", form)
		}
	}
}
