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

// speller spells texts such that the tokens of a spelling have its text: a search that is
// valid by text names the same documents as one by tokens.
type speller struct {
	Speller
	special map[int32]bool
}

func newSpeller(s Speller) *speller { return &speller{s, map[int32]bool{}} }

// pieces are the tokens of what the tokenizer makes of a text, without those that have no
// text of their own, such as <unk>.
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
