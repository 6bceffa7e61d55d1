package tokenize

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// wordPiece splits a word into the longest pieces of the vocabulary from left to right (transformers: WordpieceTokenizer).
type wordPiece struct {
	initial   map[string]int32 // pieces that may begin a word
	continued map[string]int32 // pieces that continue a word, without "##"
	longest   int              // bytes of the longest piece
	maxChars  int              // longer words are unknown
	unk       int32
}

// newWordPiece returns the splitter and the vocabulary by id.
func newWordPiece(c *File) (wordPiece, []string, error) {
	var vocab map[string]int32
	if err := json.Unmarshal(c.Model.Vocab, &vocab, jsontext.AllowDuplicateNames(true)); err != nil {
		return wordPiece{}, nil, fmt.Errorf("vocab is not a map of piece to id: %w", err)
	}
	prefix := c.Model.ContinuingSubwordPrefix
	if prefix == "" || c.Model.MaxInputCharsPerWord <= 0 {
		return wordPiece{}, nil, errors.New("continuing_subword_prefix or max_input_chars_per_word is missing")
	}
	w := wordPiece{initial: make(map[string]int32, len(vocab)), continued: make(map[string]int32, len(vocab)/4),
		maxChars: c.Model.MaxInputCharsPerWord}
	pieces := make([]string, len(vocab))
	for piece, id := range vocab {
		if id < 0 || int(id) >= len(vocab) || pieces[id] != "" {
			return wordPiece{}, nil, fmt.Errorf("piece %q has id %d, which is taken or outside 0..%d", piece, id, len(vocab)-1)
		}
		pieces[id] = piece
		if rest, ok := strings.CutPrefix(piece, prefix); ok && rest != "" {
			w.continued[rest] = id
		}
		w.initial[piece] = id
		w.longest = max(w.longest, len(piece))
	}
	unk, ok := vocab[c.Model.UnkToken]
	if !ok {
		return wordPiece{}, nil, fmt.Errorf("unk_token %q is not in the vocabulary", c.Model.UnkToken)
	}
	w.unk = unk
	return w, pieces, nil
}

// split appends the ids of word, or only the unknown id if a part is unknown.
func (w *wordPiece) split(dst []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > w.maxChars {
		return append(dst, w.unk)
	}
	pieces, start := w.initial, len(dst)
	for rest := word; rest != ""; pieces = w.continued {
		end := min(len(rest), w.longest)
		for end > 0 && end < len(rest) && !utf8.RuneStart(rest[end]) {
			end--
		}
		for end > 0 {
			if id, ok := pieces[rest[:end]]; ok {
				dst = append(dst, id)
				break
			}
			_, size := utf8.DecodeLastRuneInString(rest[:end])
			end -= size
		}
		if end <= 0 {
			return append(dst[:start], w.unk)
		}
		rest = rest[end:]
	}
	return dst
}
