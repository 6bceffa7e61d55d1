package dedup

import "strings"

// The numbers of words that Contrast shows: of common text before the difference, within its sentence, and in total.
const (
	contextWords = 5
	shownWords   = 12
)

// Contrast returns where two texts first differ, as each has it, "…" marking cuts; runs of white space count as a blank.
// ok is false if all words are equal.
func Contrast(a, b string) (sa, sb string, ok bool) {
	wordsA, wordsB := strings.Fields(a), strings.Fields(b)
	at := 0
	for at < min(len(wordsA), len(wordsB)) && wordsA[at] == wordsB[at] {
		at++
	}
	if at == len(wordsA) && at == len(wordsB) {
		return "", "", false
	}
	from := at
	for from > max(0, at-contextWords) && !strings.ContainsRune(".!?", rune(wordsA[from-1][len(wordsA[from-1])-1])) {
		from--
	}
	return excerpt(wordsA, from), excerpt(wordsB, from), true
}

// excerpt shows words from a place on.
func excerpt(words []string, from int) string {
	shown := words[from:min(from+shownWords, len(words))]
	text := strings.Join(shown, " ")
	if from > 0 {
		text = "…" + text
	}
	if from+len(shown) < len(words) {
		text += "…"
	}
	return text
}
