package tokenize

import "slices"

// EncodeTruncated returns at most limit ids, the last one </s>: transformers'
// truncation=True, max_length=limit. Only as much of text is read as is needed.
// limit < 1 gives no ids.
func (t *T5) EncodeTruncated(text string, limit int) []int32 {
	if limit < 1 {
		return nil
	}
	return append(t.PiecesPrefix(text, limit-1), t.eos)
}

// PiecesPrefix returns the first limit ids of text, without </s>; equal to the
// head of Pieces(text). A page has thousands of words and a model sees 32 to 64
// tokens: the text is cut where a cut cannot change a token before it.
func (t *T5) PiecesPrefix(text string, limit int) []int32 {
	if limit <= 0 {
		return []int32{}
	}
	for size := 8*limit + 64; ; size *= 4 {
		end := safeCut(text, size)
		ids := t.encode(text[:end], false)
		if len(ids) >= limit || end == len(text) {
			return slices.Clip(ids[:min(limit, len(ids))])
		}
	}
}

// safeCut returns the first position at or after size where an ASCII letter, one
// blank and an ASCII letter stand: words are tokenized one by one, and neither
// normalization nor a special token reaches across such a blank.
func safeCut(text string, size int) int {
	for i := max(size, 1); i+1 < len(text); i++ {
		if text[i] == ' ' && asciiLetter(text[i-1]) && asciiLetter(text[i+1]) {
			return i
		}
	}
	return len(text)
}

func asciiLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
