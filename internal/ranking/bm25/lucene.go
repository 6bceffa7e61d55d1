package bm25

import (
	"strings"
	"unicode"
	"unicode/utf8"

	uax29 "github.com/clipperhouse/uax29/v2/words"

	"github.com/redsi/redsi/internal/system/lists"
)

// LuceneEnglish is Lucene's EnglishAnalyzer, which is Anserini's and Pyserini's default: words by Unicode's UAX #29,
// lower-cased without a possessive 's, without 33 stop words, cut by Porter's stemmer. It follows Lucene 9, except that
// it keeps scripts and emoji that Unicode has had since version 12.1, which Lucene's tokenizer drops.
type LuceneEnglish struct{}

// longest token of Lucene's StandardTokenizer, in UTF-16: what is longer is cut into parts.
const longest = 255

// Split yields the segments that may be tokens. Words of scripts that do not space them are
// one segment up to the next other character, as Lucene leaves them.
func (LuceneEnglish) Split(text string, yield func(string)) {
	start, end := 0, 0 // of a segment of such a script
	for it := uax29.FromString(text); it.Next(); {
		segment := it.Value()
		if len(segment) == 1 && segment[0] < utf8.RuneSelf && !isWord(rune(segment[0])) {
			continue
		}
		if unspaced(segment) {
			if end != it.Start() || start == end {
				pieces(text[start:end], yield)
				start = it.Start()
			}
			end = it.End()
			continue
		}
		pieces(text[start:end], yield)
		start, end = 0, 0
		pieces(segment, yield)
	}
	pieces(text[start:end], yield)
}

// unspaced says whether a segment begins with a letter of line breaking class SA.
func unspaced(segment string) bool {
	if segment[0] < 0xe0 { // before U+0800
		return false
	}
	r, _ := utf8.DecodeRuneInString(segment)
	return r >= 0xe00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Ahom) &&
		!unicode.IsDigit(r) && !unicode.IsPunct(r)
}

// pieces yields a segment, or parts of it if it is too long for one token.
func pieces(segment string, yield func(string)) {
	for len(segment) > longest {
		units, cut := 0, len(segment)
		for i, r := range segment {
			n := 1
			if r > 0xffff {
				n = 2
			}
			if units += n; units > longest {
				cut = i
				break
			}
		}
		yield(segment[:cut])
		segment = segment[cut:]
	}
	if segment != "" {
		yield(segment)
	}
}

func (LuceneEnglish) Term(segment string) string {
	if !isSequence(segment) {
		segment = strings.TrimLeftFunc(segment, func(r rune) bool { return r < utf8.RuneSelf && !isWord(r) }) // before a lone mark
		if strings.IndexFunc(segment, inToken) < 0 {
			return ""
		}
	}
	word := strings.Map(unicode.ToLower, dropPossessive(segment))
	if stopWords[word] {
		return ""
	}
	return porterStem(word)
}

// dropPossessive is Lucene's EnglishPossessiveFilter.
func dropPossessive(word string) string {
	rest := strings.TrimRight(word, "sS")
	if len(rest) != len(word)-1 {
		return word
	}
	for _, quote := range [...]string{"'", "\u2019", "\uff07"} {
		if cut, ok := strings.CutSuffix(rest, quote); ok {
			return cut
		}
	}
	return word
}

// isSequence says whether a segment is an emoji of characters that make none: a pair of
// regional indicators, or # or * in a key cap.
func isSequence(segment string) bool {
	if segment[0] < utf8.RuneSelf {
		return (segment[0] == '#' || segment[0] == '*') && strings.ContainsRune(segment, 0x20e3)
	}
	return lists.Count([]rune(segment), func(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }) == 2
}
