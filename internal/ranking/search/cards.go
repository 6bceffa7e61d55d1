package search

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/words"
)

// Card is what is shown of a document.
type Card struct {
	Title string
	Text  string // first words, on one line
}

// cardText bounds Card.Text, in characters.
const cardText = 240

// ReadCards reads the texts of a collection and keeps little of each: 100,000 documents take about 40 MB, and minutes
// to read. documents, which may be nil, gives the titles as readers know them; the titles of a corpus may be normalized
// for a model, or missing.
func ReadCards(texts, documents io.Reader) ([]Card, error) {
	cards, err := eachDocument(texts, newCard)
	if err != nil || documents == nil {
		return cards, err
	}
	titled := 0
	err = dedup.ReadDocuments(documents, func(d *dedup.Document) error {
		if titled++; int(d.Doc) < len(cards) && d.Title != "" {
			cards[d.Doc].Title = FirstWords(d.Title, cardText)
		}
		return nil
	})
	if err == nil && titled != len(cards) {
		err = fmt.Errorf("there are titles of %d documents and texts of %d", titled, len(cards))
	}
	return cards, err
}

// WriteCards keeps cards for KeptCards, in the form of a small corpus.
func WriteCards(w io.Writer, cards []Card) error {
	c, err := corpus.NewWriter(w)
	if err != nil {
		return err
	}
	for i, card := range cards {
		if err := c.Write(corpus.Document{Doc: int32(i), Title: card.Title, Text: card.Text}); err != nil {
			return err
		}
	}
	return c.Close()
}

// KeptCards reads what WriteCards wrote.
func KeptCards(r io.Reader) ([]Card, error) {
	return eachDocument(r, func(d corpus.Document) Card { return Card{d.Title, d.Text} })
}

// eachDocument makes a card of each document of a corpus that is numbered from zero.
func eachDocument(texts io.Reader, card func(corpus.Document) Card) ([]Card, error) {
	r, err := corpus.NewReader(texts)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var cards []Card
	for d, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if int(d.Doc) != len(cards) {
			return nil, fmt.Errorf("corpus: document %d where %d was expected", d.Doc, len(cards))
		}
		cards = append(cards, card(d))
	}
	return cards, nil
}

// newCard leaves the title that a text begins with out of its first words.
func newCard(d corpus.Document) Card {
	text := d.Text
	if rest, ok := strings.CutPrefix(text, d.Title); ok && strings.TrimSpace(rest) != "" {
		text = rest
	}
	return Card{Title: FirstWords(d.Title, cardText), Text: FirstWords(text, cardText)}
}

// FirstWords is the beginning of a text on one line, cut between words if it is longer than limit characters. Control
// characters separate words, so that no terminal obeys a document. The result shares no memory with text.
func FirstWords(text string, limit int) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
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
			b.WriteString(words.Clip(word, limit))
			break
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}

// errEnough ends a reading early.
var errEnough = errors.New("enough")

// Examples are the first n questions of the development split, or of test where that has none, in order, no text twice.
func Examples(queries io.Reader, n int) ([]string, error) {
	found := map[nq.Split][]string{}
	seen := map[dedup.Query]bool{}
	err := dedup.ReadQueries(queries, -1, func(q *dedup.Query) error {
		same := dedup.Query{Split: q.Split, Question: q.Question}
		if q.Split != nq.Train && len(found[q.Split]) < n && !seen[same] {
			seen[same] = true
			found[q.Split] = append(found[q.Split], q.Question)
		}
		if len(found[nq.Dev]) >= n {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	if out := found[nq.Dev]; len(out) > 0 {
		return out, err
	}
	return found[nq.Test], err
}
