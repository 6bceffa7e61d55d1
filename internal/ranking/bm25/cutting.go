package bm25

import (
	"strings"
	"unicode/utf8"
)

// cutting is a word whose endings are cut.
type cutting struct {
	word       string
	r1, r2, rv int    // where its regions begin; an ending is in each region that begins at or before it; len(word) for none
	limit      int    // endings are looked for from here on
	vowels     string // for the conditions V, C and X
	pair       string // two letters that are a vowel together
}

// cut applies the rule of the longest ending that the word has, and returns what it cut; or "" if the word has no such
// ending, the ending is not in the region, or the rule's conditions do not hold. A rule is ENDING, or
// ENDING:REPLACEMENT, with CONDITIONS| before it if it has any; a CONDITIONS| without an ending holds for the rules
// behind it that have no conditions. BEFORE.ENDING cuts both, and counts as ENDING. Of several rules of one ending the
// first that holds counts; the replacement ! cuts nothing.
func (c *cutting) cut(region int, rules string) string {
	var longest, all, cut, word string
	for rule := range strings.FieldsSeq(rules) {
		when, e, ok := strings.Cut(rule, "|")
		if !ok {
			when, e = all, rule
		} else if e == "" {
			all = when
			continue
		}
		e, by, _ := strings.Cut(e, ":")
		end := e[strings.Index(e, ".")+1:]
		e = strings.Replace(e, ".", "", 1)
		if len(end) < len(longest) || len(end) == len(longest) && cut != "" || !strings.HasSuffix(c.word[min(c.limit, len(c.word)):], end) {
			continue
		}
		longest, cut = end, ""
		if stem, ok := strings.CutSuffix(c.word, e); ok && len(c.word)-len(end) >= region && c.holds(stem, when) {
			cut, word = e, stem+by
		}
	}
	if cut == "" || strings.HasSuffix(word, "!") {
		return ""
	}
	c.word = word
	return cut
}

// holds is whether the stem before an ending meets all conditions: 1, 2 and 3, the ending is in r1, r2 or rv, and 4, a
// letter before it, too; V, C and X, the stem ends with a vowel, another letter, or a vowel and a letter; ^, it is
// empty; and it ends with one of the letters behind.
func (c *cutting) holds(stem, when string) bool {
	last, n := utf8.DecodeLastRuneInString(stem)
	for i, condition := range when {
		ok := true
		switch condition {
		case '1', '2', '3', '4':
			ok = len(stem) >= [...]int{c.r1, c.r2, c.rv, c.rv + 1}[condition-'1']
		case 'V', 'C':
			ok = stem != "" && c.vowel(stem) == (condition == 'V')
		case 'X':
			ok = c.vowel(stem[:len(stem)-n])
		case '^':
			ok = stem == ""
		default:
			return strings.ContainsRune(when[i:], last)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (c *cutting) vowel(word string) bool {
	last, n := utf8.DecodeLastRuneInString(word)
	return n > 0 && strings.ContainsRune(c.vowels, last) || c.pair != "" && strings.HasSuffix(word, c.pair)
}

// regions sets r1 and r2: each begins behind the first consonant that follows a vowel.
func (c *cutting) regions() {
	c.r1 = c.syllable(0)
	c.r2 = c.syllable(c.r1)
}

// syllable is where the first consonant behind a vowel ends, from an offset on.
func (c *cutting) syllable(from int) int {
	rest := c.word[from:]
	if c.pair != "" {
		rest = strings.ReplaceAll(rest, c.pair, "yy")
	}
	at := strings.IndexAny(rest, c.vowels)
	if at < 0 {
		return len(c.word)
	}
	rest = strings.TrimLeft(rest[at:], c.vowels)
	_, n := utf8.DecodeRuneInString(rest)
	return len(c.word) - len(rest) + n
}
