package search

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpus"
	"github.com/redsi/redsi/internal/dedup"
	"github.com/redsi/redsi/internal/nq"
)

// Card is what is shown of a document.
type Card struct {
	Title string
	Text  string // first words, on one line
}

// cardText bounds Card.Text, in characters.
const cardText = 240

// ReadCards reads the texts of a collection of n documents and keeps little of
// each: a collection of 100,000 takes about 40 MB. documents, which may be nil,
// gives the titles as readers know them; the titles of a corpus may be normalized
// for a model, or missing.
func ReadCards(texts, documents io.Reader, n int) ([]Card, error) {
	cards := make([]Card, 0, n)
	r, err := corpus.NewReader(texts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if int(d.Doc) != len(cards) {
			return nil, fmt.Errorf("corpus: document %d where %d was due", d.Doc, len(cards))
		}
		cards = append(cards, newCard(d))
	}
	if len(cards) != n {
		return nil, fmt.Errorf("the corpus has %d documents, the identifiers are of %d", len(cards), n)
	}
	if documents == nil {
		return cards, nil
	}
	titled := 0
	err = dedup.ReadDocuments(documents, func(d *dedup.Document) error {
		if titled++; int(d.Doc) < n && d.Title != "" {
			cards[d.Doc].Title = d.Title
		}
		return nil
	})
	if err == nil && titled != n {
		err = fmt.Errorf("the titles are of %d documents, the identifiers of %d", titled, n)
	}
	return cards, err
}

// newCard leaves the title that a text begins with out of its first words.
func newCard(d corpus.Document) Card {
	text := d.Text
	if rest, ok := strings.CutPrefix(text, d.Title); ok && strings.TrimSpace(rest) != "" {
		text = rest
	}
	return Card{Title: FirstWords(d.Title, cardText), Text: FirstWords(text, cardText)}
}

// FirstWords is the beginning of a text on one line, cut between words if it is
// longer than limit characters. The result shares no memory with text.
func FirstWords(text string, limit int) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		size := utf8.RuneCountInString(word)
		if n > 0 && n+1+size > limit {
			b.WriteString(" …")
			break
		}
		if n > 0 {
			b.WriteByte(' ')
			n++
		}
		if size > limit { // the first word is longer than all
			for range limit {
				_, width := utf8.DecodeRuneInString(word)
				b.WriteString(word[:width])
				word = word[width:]
			}
			b.WriteString("…")
			break
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}

// errEnough ends a reading early.
var errEnough = errors.New("enough")

// Examples are the first n questions of the development split, in order, no text
// twice.
func Examples(queries io.Reader, n int) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	err := dedup.ReadQueries(queries, -1, func(q *dedup.Query) error {
		if q.Split == nq.Dev && !seen[q.Question] {
			seen[q.Question] = true
			out = append(out, q.Question)
		}
		if len(out) >= n {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}
