package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// texts is a corpus of five documents; the last has no title.
var texts = []corpus.Document{
	{Title: "baby love", Text: "baby love is a song by\nthe supremes"},
	{Title: "Elsa (Disney)", Text: "Elsa (Disney)\nElsa is a queen.\n\nShe sings."},
	{Title: "only a title", Text: "only a title"},
	{Title: "Lightning", Text: "Thunder comes later."},
	{Text: "no title at all"},
}

func corpusBytes(t *testing.T, docs []corpus.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	w := testkit.Value(corpus.NewWriter(&b))(t)
	for i, d := range docs {
		d.Doc = int32(i)
		testkit.None(t, w.Write(d))
	}
	testkit.None(t, w.Close())
	return b.Bytes()
}

// lines compresses values as dedup writes them.
func lines[T any](t *testing.T, values ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := testkit.Value(zstd.NewWriter(&b))(t)
	for _, v := range values {
		testkit.None(t, json.NewEncoder(z).Encode(v))
	}
	testkit.None(t, z.Close())
	return b.Bytes()
}

func documents(titles ...string) []dedup.Document {
	out := make([]dedup.Document, len(titles))
	for i, title := range titles {
		out[i] = dedup.Document{Doc: int32(i), ExampleID: int64(i), Title: title, Train: 1}
	}
	return out
}

func TestReadCards(t *testing.T) {
	cards := testkit.Value(ReadCards(bytes.NewReader(corpusBytes(t, texts)), nil))(t)
	want := []Card{
		{"baby love", "is a song by the supremes"},
		{"Elsa (Disney)", "Elsa is a queen. She sings."},
		{"only a title", "only a title"},
		{"Lightning", "Thunder comes later."},
		{"", "no title at all"},
	}
	testkit.Is(t, fmt.Sprint(cards), fmt.Sprint(want), cards, want)
	titles := lines(t, documents("Baby Love", "", "Only", "Lightning", "None")...)
	cards = testkit.Value(ReadCards(bytes.NewReader(corpusBytes(t, texts)), bytes.NewReader(titles)))(t)
	if cards[0].Title != "Baby Love" || cards[0].Text != "is a song by the supremes" || cards[1].Title != "Elsa (Disney)" || cards[4].Title != "None" {
		t.Errorf("titles of the documents: %q", cards)
	}
}

// Kept cards are the same cards; a file that was cut is an error.
func TestKeptCards(t *testing.T) {
	want := []Card{{"Baby Love", "Baby Love Baby Love"}, {"", ""}, {"<&>", "first …"}}
	var b bytes.Buffer
	testkit.None(t, WriteCards(&b, want))
	whole := b.Bytes()
	if got, err := KeptCards(bytes.NewReader(whole)); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	for n := range len(whole) - 1 {
		if got, err := KeptCards(bytes.NewReader(whole[:n])); err == nil && slices.Equal(got, want) {
			continue // only the checksum is missing
		} else if err == nil && n > 0 {
			t.Errorf("the first %d of %d bytes give %q", n, len(whole), got)
		}
	}
}

func TestReadCardsOfAnotherCollection(t *testing.T) {
	whole := corpusBytes(t, texts)
	var gap bytes.Buffer
	w := testkit.Value(corpus.NewWriter(&gap))(t)
	testkit.None(t, errors.Join(w.Write(corpus.Document{Doc: 1}), w.Close()))
	for _, c := range map[string]struct {
		texts, documents []byte
		want             string
	}{
		"too few titles":  {whole, lines(t, documents("a", "b")...), "there are titles of 2 documents and texts of 5"},
		"too many titles": {whole, lines(t, documents("a", "b", "c", "d", "e", "f")...), "there are titles of 6 documents"},
		"no titles":       {whole, whole, `unknown object member name "text"`},
		"cut texts":       {whole[:len(whole)/2], nil, "corpus"},
		"a document less": {gap.Bytes(), nil, "document 1 where 0 was expected"},
	} {
		var titles io.Reader
		if c.documents != nil {
			titles = bytes.NewReader(c.documents)
		}
		testkit.ErrSays(t, testkit.Err(ReadCards(bytes.NewReader(c.texts), titles)), c.want)
	}
}

func TestFirstWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 10, ""},
		{" one\n\ntwo\tthree ", 20, "one two three"},
		{"red\x1b[31m\x00text", 20, "red [31m text"},
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two …"},
		{"äöü äöü", 7, "äöü äöü"},
		{"äöüäöü x", 4, "äöüä…"},
	} {
		testkit.Is(t, FirstWords(c.text, c.limit), c.want, c.text, c.limit)
	}
}

// TestExamples: a collection without development questions has the questions of test.
func TestExamples(t *testing.T) {
	q := func(id int64, split nq.Split, text string) dedup.Query {
		return dedup.Query{ExampleID: id, Split: split, Question: text}
	}
	dev := lines(t, q(1, nq.Train, "a"), q(2, nq.Dev, "b"), q(3, nq.Dev, "b"), q(4, nq.Dev, "c"), q(5, nq.Dev, "d"))
	test := lines(t, q(1, nq.Train, "a"), q(2, nq.Test, "b"), q(3, nq.Test, "c"))
	for want, c := range map[string]struct {
		of []byte
		n  int
	}{"[b c]": {dev, 2}, "[b c d]": {dev, 9}, "[b]": {test, 1}} {
		if got, err := Examples(bytes.NewReader(c.of), c.n); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%d examples: %v, %v; want %s", c.n, got, err, want)
		}
	}
}

func TestHeading(t *testing.T) {
	for want, h := range map[string]Hit{
		"Elsa": {Title: "Elsa", Text: "is a queen"},
		"She sings of the cold that never bothered her anyway, and of …": {Text: "She sings of the cold that never bothered her anyway, and of the door that she shuts."},
		"document 7": {Document: "7"},
	} {
		testkit.Is(t, h.Heading(), want)
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"  who sings ":                      "who sings",
		" \t\n":                             "error: the query is empty",
		"\x00\x01":                          "error: the query is empty",
		"\u200b\u2060":                      "error: the query is empty",
		"a\x1b[31mb\tc\x07":                 "a [31mb c",
		"👩\u200d🎤":                          "👩\u200d🎤",
		"a\xff":                             "error: the query is not UTF-8",
		strings.Repeat("ä", MaxQuery):       strings.Repeat("ä", MaxQuery),
		strings.Repeat("ä", MaxQuery) + "b": "error: the query has 1001 characters; at most 1000 are taken",
	} {
		got, err := Clean(text)
		if err != nil {
			got = "error: " + err.Error()
		}
		testkit.Is(t, got, want, "Clean", text)
	}
}

func TestPercent(t *testing.T) {
	for p, want := range map[float64]string{1: "100.0 %", 0.6204: "62.0 %", 0.0031: "0.31 %", 0.0000312: "3e-05", 0: "0e+00"} {
		testkit.Is(t, Percent(p), want, "Percent", p)
	}
}
