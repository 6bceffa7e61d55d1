package subword

import "slices"

// EncodeTruncated returns at most limit ids, special tokens around the text among them, and whether that is not all of
// it: transformers' truncation=True, max_length=limit. Only as much of text is read as is needed. A limit that has no
// room for the special tokens gives no ids.
func (t *Subword) EncodeTruncated(text string, limit int) (ids []int32, truncated bool) {
	room := limit - len(t.before) - len(t.after)
	if room < 0 {
		return nil, true
	}
	ids = t.PiecesPrefix(text, room+1)
	truncated = len(ids) > room
	return t.WithSpecialTokens(ids[:min(room, len(ids))]), truncated
}

// WithSpecialTokens puts the special tokens around ids that Pieces or PiecesPrefix gave.
func (t *Subword) WithSpecialTokens(ids []int32) []int32 {
	return slices.Concat(t.before, ids, t.after)
}

// PiecesPrefix returns the first limit ids of text, without special tokens around it; equal to the
// head of Pieces(text). A page has thousands of words and a model sees 32 to 64
// tokens: the text is cut where a cut cannot change a token before it.
func (t *Subword) PiecesPrefix(text string, limit int) []int32 {
	if limit <= 0 {
		return []int32{}
	}
	for size := 8*limit + 64; ; size *= 4 {
		end := len(text)
		if t.cuts {
			end = safeCut(text, size)
		}
		ids := t.encode(text[:end], false)
		if len(ids) >= limit || end == len(text) {
			return slices.Clip(ids[:min(limit, len(ids))])
		}
	}
}

// safeCut returns the first position at or after size where an ASCII letter, one blank and an ASCII letter stand: words
// are tokenized one by one, and neither normalization nor a special token reaches across such a blank.
func safeCut(text string, size int) int {
	for i := max(size, 1); i+1 < len(text); i++ {
		if text[i] == ' ' && asciiLetter(text[i-1]) && asciiLetter(text[i+1]) {
			return i
		}
	}
	return len(text)
}

func asciiLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
