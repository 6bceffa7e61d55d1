package bm25

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/system/lists"
)

// Analyzer splits a text into segments, each of which is a term or no term, whatever stands around it. An index asks
// for the term of a segment once.
type Analyzer interface {
	Split(text string, yield func(segment string))
	Term(segment string) string // "" for none
}

// stopWords are Lucene's for English, which are bm25s' too.
var stopWords = lists.Set(strings.Fields("a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with"))

// Whitespace is the tokenizer of rank_bm25's examples: words between blanks, as they are. Blanks are the blanks of
// Python's str.split.
type Whitespace struct{}

func (Whitespace) Split(text string, yield func(string)) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }) {
		yield(w)
	}
}

func (Whitespace) Term(segment string) string { return segment }

// Words is the tokenizer of bm25s: of the lower-cased text whatever its default expression
// (?u)\b\w\w+\b finds, without the stop words, each cut by a stemmer if there is one.
func Words(stop bool, stemmer string) (Analyzer, error) {
	stem, ok := stemmers[stemmer]
	if stemmer != "" && !ok {
		return nil, fmt.Errorf("stemmer %q is unknown; there are %s", stemmer, strings.Join(Stemmers(), ", "))
	}
	return words{stop, stem}, nil
}

type words struct {
	stop bool
	stem func(string) string // or nil
}

func (words) Split(text string, yield func(string)) {
	for w := range strings.FieldsFuncSeq(pytext.Lower(text), func(r rune) bool { return !isWord(r) }) {
		if utf8.RuneCountInString(w) > 1 {
			yield(w)
		}
	}
}

// isWord is \w of Python's re: str.isalnum, or an underscore.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

func (a words) Term(segment string) string {
	switch {
	case a.stop && stopWords[segment]:
		return ""
	case a.stem != nil:
		return a.stem(segment)
	}
	return segment
}
