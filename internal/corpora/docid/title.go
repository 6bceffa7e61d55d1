package docid

import (
	"fmt"
	"strings"
)

// Untitled stands for a title that the tokenizer cannot spell.
const Untitled = "untitled"

// Spells reports whether the tokenizer can spell any of a text.
func Spells(with Speller, text string) bool {
	s := newSpeller(with)
	return s.text(s.pieces(text)) != ""
}

// TitleCounts say how titles became identifiers.
type TitleCounts struct {
	Unspelled    int `json:"unspelled_documents"` // documents whose title the tokenizer cannot spell: "untitled"
	Cut          int `json:"cut_documents"`       // documents whose title has more tokens than an identifier may have
	Numbered     int `json:"numbered_documents"`  // documents with a number after their title
	LargestGroup int `json:"largest_group"`       // documents of one title, after the cut
}

// Title gives every document its title, as GENRE names entities (De Cao et al., 2021): at most maxTokens first tokens, not
// counting the special tokens around them. A repeated title gets the first number that makes it unique, " (2)", " (3)" and
// so on, and is cut further where there is no room. An identifier's text is the spelling of its tokens. Keywords become
// identifiers of another kind in the same way.
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
	return set, &t.counts, set.Check()
}

// titling is the state of Title after some documents.
type titling struct {
	*speller
	most    int
	texts   map[string]int  // documents by their cut titles
	spelled map[string]bool // identifiers' texts
	counts  TitleCounts
}

// next returns the tokens of the next document's identifier.
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

// free reports whether no document has an identifier, and takes it.
func (t *titling) free(pieces []int32) bool {
	text := t.text(pieces)
	if text == "" || t.spelled[text] {
		return false
	}
	t.spelled[text] = true
	return true
}

// numbered returns a title with a number, without as many last tokens of the title as there is no room for.
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
