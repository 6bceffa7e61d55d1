package docid

import (
	"fmt"
	"strings"
)

// Untitled is the title of documents that have none that the tokenizer can spell.
const Untitled = "untitled"

// Spells reports whether the tokenizer can spell any of a text.
func Spells(with Speller, text string) bool {
	s := newSpeller(with)
	return s.text(s.pieces(text)) != ""
}

// TitleCounts say how titles became identifiers.
type TitleCounts struct {
	Unspelled    int `json:"unspelled_documents"` // of whose titles the tokenizer can spell nothing: "untitled"
	Cut          int `json:"cut_documents"`       // whose titles have more tokens than an identifier may have
	Numbered     int `json:"numbered_documents"`  // that have a number after their titles
	LargestGroup int `json:"largest_group"`       // documents of one title, once it is cut
}

// Title gives every document its title, as GENRE names entities (De Cao et al., 2021): at
// most maxTokens first tokens, the special ones around them not counted. Of equal titles
// the first document's stays as it is; the next ones have the first number that makes them
// unique after it, " (2)", " (3)" and so on, for which a title is cut further where there
// is no room. An identifier's text is what its tokens spell.
//
// Keywords become identifiers of another kind in the same way.
func Title(kind Kind, documents, titles []string, maxTokens int, with Speller) (*Set, *TitleCounts, error) {
	if len(titles) != len(documents) {
		return nil, nil, fmt.Errorf("%s identifiers: %d titles of %d documents", kind, len(titles), len(documents))
	}
	if maxTokens < 1 {
		return nil, nil, fmt.Errorf("%s identifiers: at most %d tokens; at least 1 is needed", kind, maxTokens)
	}
	t := &titling{speller: newSpeller(with), most: maxTokens, texts: map[string]int{}, spelled: map[string]bool{}}
	set := &Set{Kind: kind, Identifiers: make([]Identifier, len(documents))}
	for i, document := range documents {
		pieces, err := t.next(titles[i])
		if err != nil {
			return nil, nil, fmt.Errorf("%s identifiers: document %q: %w", kind, document, err)
		}
		set.Identifiers[i] = Identifier{Document: document, Text: t.text(pieces), Tokens: t.WithSpecialTokens(pieces)}
	}
	for _, n := range t.texts {
		t.counts.LargestGroup = max(t.counts.LargestGroup, n)
	}
	if err := set.Check(); err != nil {
		return nil, nil, err
	}
	return set, &t.counts, nil
}

// titling is a collection whose first documents have their identifiers.
type titling struct {
	*speller
	most    int
	texts   map[string]int  // documents by their titles, as they are cut
	spelled map[string]bool // identifiers' texts
	counts  TitleCounts
}

// next are the tokens of the next document's identifier.
func (t *titling) next(title string) ([]int32, error) {
	pieces := t.pieces(title)
	if t.text(pieces) == "" {
		t.counts.Unspelled++
		pieces = t.pieces(Untitled)
	}
	if len(pieces) > t.most {
		t.counts.Cut++
		pieces = pieces[:t.most]
	}
	text := t.text(pieces)
	t.texts[text]++
	if t.free(pieces) {
		return pieces, nil
	}
	t.counts.Numbered++
	for n := max(2, t.texts[text]); ; n++ {
		numbered, err := t.numbered(pieces, n)
		if err != nil {
			return nil, err
		}
		if t.free(numbered) {
			return numbered, nil
		}
	}
}

// free takes an identifier that no document has.
func (t *titling) free(pieces []int32) bool {
	text := t.text(pieces)
	if text == "" || t.spelled[text] {
		return false
	}
	t.spelled[text] = true
	return true
}

// numbered is a title with a number, without the last tokens of the title for which there is no room.
func (t *titling) numbered(title []int32, n int) ([]int32, error) {
	number := fmt.Sprintf("(%d)", n)
	for keep := len(title); keep >= 0; keep-- {
		pieces := t.pieces(strings.TrimSpace(t.text(title[:keep]) + " " + number))
		if len(pieces) <= t.most && strings.HasSuffix(t.text(pieces), number) {
			return pieces, nil
		}
	}
	return nil, fmt.Errorf("the number %s after a title that is used before does not fit into %d tokens, or the tokenizer cannot spell it: raise max_tokens", number, t.most)
}
