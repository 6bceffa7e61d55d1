package serialize

import (
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
)

// TestRandom compares random articles with the texts of the Python peer
// (tools/golden/serialize_random.py), which shares no code and no parser.
func TestRandom(t *testing.T) {
	type article struct {
		ID    int64      `json:"example_id"`
		Title string     `json:"document_title"`
		HTML  string     `json:"document_html"`
		Spans [][2]int32 `json:"spans"`
		Text  string     `json:"text"`
	}
	s := newSerializer(t, HtmlNorm, nil)
	n, differ := 0, 0
	for _, want := range goldens.Lines[article](t, "testdata/random.jsonl.gz") {
		r := &nq.Record{ExampleID: want.ID, Title: want.Title, HTML: []byte(want.HTML)}
		for _, s := range want.Spans {
			r.Tokens = append(r.Tokens, nq.Token{Text: want.HTML[s[0]:s[1]], Start: s[0], End: s[1]})
		}
		n++
		if got := document(t, s, r).String(); got != want.Text {
			if differ++; differ <= 3 {
				t.Errorf("article %d:\n%s\n--- got\n%s\n--- want\n%s", want.ID, want.HTML, got, want.Text)
			}
		}
	}
	if n == 0 {
		t.Fatal("no articles")
	}
	if differ > 0 {
		t.Errorf("%d of %d articles differ", differ, n)
	}
}
