package collect

import (
	"strings"
	"unicode"
)

// Key says when two documents are one.
type Key struct {
	Name  string
	Label string // for people
	Doc   string // what is compared, in one sentence
}

const (
	Exact           = "exact"
	NormalizedTitle = "normalized_title"
)

// Keys lists them, the default first.
func Keys() []Key {
	return []Key{
		{Exact, "name", "the name as stored: every document is one of its own"},
		{NormalizedTitle, "normalized title", "BERT tokenize-and-decode of the title; documents whose title has no letter or digit then are each one of their own"},
	}
}

// hasWord reports whether a normalized title tells documents apart, by more than unknown characters and punctuation.
func hasWord(title string) bool {
	return strings.ContainsFunc(strings.ReplaceAll(title, "[UNK]", ""), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}
