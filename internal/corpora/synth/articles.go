package synth

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"html"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// article is a real Wikipedia page, cut at its tokens; the corpus's pages have another title and some other words.
type article struct {
	Title         string
	Opening       string // its first paragraph, as HtmlNorm has it
	Pronunciation string // what HtmlNorm drops of it
	// Edited are the pieces that edits change and that show a template's value: two among the first 4,000 characters and, in
	// a long page, two behind them.
	Edited     []int
	Rest       *struct{ From, To, Skip int } // pieces of its later sections, and their bytes in the gap behind them
	Pieces     []piece
	Tail       string // of the HTML
	Candidates []candidate

	name       string   // the word of its title that becomes the page's own
	h1, endH1  int      // the tags of its heading
	words      []string // of its opening
	compared   int      // tokens except tags and its title
	mismatches map[pair]int64
}

// piece is a token with the HTML before it, which has none.
type piece struct {
	Gap, HTML string
	Text      string // as stored; "": as in the HTML
	Tag       bool
	plain     bool // text and HTML are the same word
}

// candidate is one entry of long_answer_candidates; tokens are [start, end).
type candidate struct {
	Start, End int
	Top        bool
}

// pair is a token as in the HTML, entities resolved, and as stored.
type pair struct{ html, stored string }

//go:embed articles.jsonl.zst
var packedArticles []byte

// articles returns all articles, cut and complete, the three large articles first.
var articles = sync.OnceValue(func() (all struct{ short, full []*article }) {
	z, err := zstd.NewReader(bytes.NewReader(packedArticles))
	if err != nil {
		panic(err)
	}
	defer z.Close()
	for d := json.NewDecoder(z); ; {
		var a article
		if err := d.Decode(&a); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			panic(err)
		}
		short := a.short()
		all.short, all.full = append(all.short, short.index()), append(all.full, a.index())
	}
})

// style is half of the HTML of some articles.
var style = regexp.MustCompile(`(?s)<STYLE>.*?</STYLE>`)

// short returns the article without its later sections and style sheets.
func (a article) short() *article {
	if a.Rest == nil {
		a.Pieces = slices.Clone(a.Pieces)
		return &a
	}
	from, to := a.Rest.From, a.Rest.To
	a.Pieces = slices.Concat(a.Pieces[:from], a.Pieces[to:])
	a.Pieces[from].Gap = a.Pieces[from].Gap[a.Rest.Skip:]
	for i := range a.Pieces {
		a.Pieces[i].Gap = style.ReplaceAllString(a.Pieces[i].Gap, "")
	}
	all := a.Candidates
	a.Candidates = nil
	for _, c := range all {
		switch {
		case c.Start >= to:
			c.Start, c.End = c.Start-(to-from), c.End-(to-from)
		case c.Start >= from:
			continue
		}
		a.Candidates = append(a.Candidates, c)
	}
	return &a
}

// index fills in the fields that follow from the pieces.
func (a *article) index() *article {
	a.mismatches = map[pair]int64{}
	for i := range a.Pieces {
		p := &a.Pieces[i]
		if p.Text == "" {
			p.Text, p.plain = p.HTML, !p.Tag
		}
		switch {
		case p.Tag && strings.HasPrefix(p.Text, "<H1"):
			a.h1 = i
		case p.Tag && p.Text == "</H1>":
			a.endH1 = i
		}
	}
	for i, p := range a.Pieces {
		if i >= a.titled() && (i < a.h1 || i > a.endH1) {
			a.compared += p.compare(a.mismatches)
		}
	}
	for _, w := range words(a.Title) {
		a.name = cmp.Or(a.name, w)
	}
	for _, w := range words(a.Opening) {
		if w = strings.ToLower(w); !strings.EqualFold(w, a.name) && !slices.Contains(a.words, w) {
			a.words = append(a.words, w)
		}
	}
	return a
}

// titled is the number of tokens of its title, in the first tokens and in the heading.
func (a *article) titled() int { return a.endH1 - a.h1 - 1 }

// compare returns 1 for a token that is not a tag, and counts it among the mismatches if it is stored in another form.
func (p piece) compare(mismatches map[pair]int64) int {
	if p.Tag {
		return 0
	}
	if surface := html.UnescapeString(p.HTML); !strings.EqualFold(surface, p.Text) {
		mismatches[pair{surface, p.Text}]++
	}
	return 1
}

// words yields the places and words that may be exchanged: runs of five letters or more.
func words(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(text); {
			n := letters(text[i:])
			if n >= 5 && !yield(i, text[i:i+n]) {
				return
			}
			i += max(1, n)
		}
	}
}

// letters returns the number of ASCII letters that a text begins with.
func letters(text string) int {
	for i := range len(text) {
		if c := text[i] | 0x20; c < 'a' || c > 'z' {
			return i
		}
	}
	return len(text)
}
