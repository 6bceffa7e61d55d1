package docid

import (
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
)

// Statistics describe how identifiers are spelt in tokens (figures on semantic and naive identifier tokenization).
type Statistics struct {
	Kind        Kind    `json:"kind"`
	Identifiers int     `json:"identifiers"`
	MinTokens   int     `json:"min_tokens"` // with </s>
	MaxTokens   int     `json:"max_tokens"`
	MeanTokens  float64 `json:"mean_tokens"`
	Lengths     []int   `json:"lengths"`      // identifiers by their number of tokens, from zero
	FirstTokens int     `json:"first_tokens"` // distinct first tokens
	Vocabulary  int     `json:"vocabulary"`   // distinct tokens
	Prefixes    int     `json:"prefixes"`     // nodes of the trie without the empty prefix
}

// Statistics counts the set, which must be valid.
func (s *Set) Statistics() (Statistics, error) {
	st := Statistics{Kind: s.Kind, Identifiers: len(s.Identifiers)}
	trie, err := NewTrie(s.Sequences())
	if err != nil {
		return st, err
	}
	st.MaxTokens, st.Lengths, st.Prefixes = trie.Depth, make([]int, trie.Depth+1), trie.Nodes()-1
	st.FirstTokens, _ = trie.Widest()
	st.Vocabulary = len(lists.Set(trie.Tokens()))
	total := 0
	for _, id := range s.Identifiers {
		st.Lengths[len(id.Tokens)]++
		total += len(id.Tokens)
	}
	st.MinTokens = max(0, slices.IndexFunc(st.Lengths, func(n int) bool { return n > 0 }))
	st.MeanTokens = float64(total) / float64(max(1, len(s.Identifiers)))
	return st, nil
}
