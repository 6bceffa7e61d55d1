package docid

import (
	"slices"
	"strings"
)

// Speller is the part of the model's tokenizer that identifiers of words need.
type Speller interface {
	Pieces(text string) []int32 // tokens without special tokens
	WithSpecialTokens(pieces []int32) []int32
	Decode(tokens []int32, skipSpecial bool) string
}

// speller replaces texts by the spelling of their tokens: then searches valid by text and by tokens name the same documents.
type speller struct {
	Speller
	special map[int32]bool
}

func newSpeller(s Speller) *speller { return &speller{s, map[int32]bool{}} }

// pieces returns a text's tokens, without tokens that have no text, such as <unk>.
func (s *speller) pieces(text string) []int32 {
	text = strings.Join(strings.Fields(text), " ")
	tokens := s.Pieces(text)
	if plain := s.text(tokens); plain != text { // normalized, or without characters that have no token
		tokens = s.Pieces(plain)
	}
	return slices.DeleteFunc(tokens, s.isSpecial)
}

// text returns the spelling of tokens, without white space around it.
func (s *speller) text(tokens []int32) string { return strings.TrimSpace(s.Decode(tokens, true)) }

func (s *speller) isSpecial(t int32) bool {
	is, ok := s.special[t]
	if !ok {
		one := []int32{t}
		is = s.Decode(one, true) == "" && s.Decode(one, false) != ""
		s.special[t] = is
	}
	return is
}
