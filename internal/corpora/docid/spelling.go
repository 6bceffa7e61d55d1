package docid

import (
	"slices"
	"strings"
)

// Speller is what identifiers that are words need of the model's tokenizer.
type Speller interface {
	Pieces(text string) []int32 // tokens without special ones
	WithSpecialTokens(pieces []int32) []int32
	Decode(tokens []int32, skipSpecial bool) string
}

// speller spells texts as their tokens do: then searches valid by text and by tokens name the same documents.
type speller struct {
	Speller
	special map[int32]bool
}

func newSpeller(s Speller) *speller { return &speller{s, map[int32]bool{}} }

// pieces are a text's tokens without those that have no text, such as <unk>.
func (s *speller) pieces(text string) []int32 {
	text = strings.Join(strings.Fields(text), " ")
	tokens := s.Pieces(text)
	if plain := s.text(tokens); plain != text { // normalized, or without what has no token
		tokens = s.Pieces(plain)
	}
	return slices.DeleteFunc(tokens, s.isSpecial)
}

// text is what tokens spell, without white space around it.
func (s *speller) text(tokens []int32) string { return strings.TrimSpace(s.Decode(tokens, true)) }

func (s *speller) isSpecial(t int32) bool {
	is, known := s.special[t]
	if !known {
		one := []int32{t}
		is = s.Decode(one, true) == "" && s.Decode(one, false) != ""
		s.special[t] = is
	}
	return is
}
