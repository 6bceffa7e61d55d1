package docid

import "strings"

// words is a tokenizer of words, numbered as they come from 10 on. Its </s> is 1;
// words with a "?" have no token of their own, which is <unk>, 2.
type words struct {
	ids   map[string]int32
	texts []string
}

func (w *words) Pieces(text string) []int32 {
	if w.ids == nil {
		w.ids = map[string]int32{}
	}
	out := []int32{}
	for _, word := range strings.Fields(text) {
		if strings.Contains(word, "?") {
			out = append(out, 2)
			continue
		}
		id, ok := w.ids[word]
		if !ok {
			id = int32(10 + len(w.texts))
			w.ids[word], w.texts = id, append(w.texts, word)
		}
		out = append(out, id)
	}
	return out
}

func (w *words) WithSpecialTokens(pieces []int32) []int32 {
	return append(append([]int32{}, pieces...), 1)
}

func (w *words) Decode(tokens []int32, skipSpecial bool) string {
	var out []string
	for _, t := range tokens {
		switch {
		case t >= 10:
			out = append(out, w.texts[t-10])
		case !skipSpecial:
			out = append(out, []string{"<pad>", "</s>", "<unk>"}[t])
		}
	}
	return strings.Join(out, " ")
}
