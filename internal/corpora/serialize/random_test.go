package serialize

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// TestRandom compares random articles with the texts of the Python peer
// (tools/golden/serialize_random.py), which shares no code and no parser.
func TestRandom(t *testing.T) {
	f, err := os.Open("testdata/random.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s := newSerializer(t, HtmlNorm, nil)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	n, differ := 0, 0
	for lines.Scan() {
		var want struct {
			ID    int64      `json:"example_id"`
			Title string     `json:"document_title"`
			HTML  string     `json:"document_html"`
			Spans [][2]int32 `json:"spans"`
			Text  string     `json:"text"`
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
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
	if err := lines.Err(); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if differ > 0 {
		t.Errorf("%d of %d articles differ", differ, n)
	}
}
