package docid

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
	st.Prefixes = trie.Nodes() - 1
	st.Lengths = make([]int, trie.Depth()+1)
	first, all := map[int32]struct{}{}, map[int32]struct{}{}
	total := 0
	for i, id := range s.Identifiers {
		n := len(id.Tokens)
		st.Lengths[n]++
		total += n
		if i == 0 || n < st.MinTokens {
			st.MinTokens = n
		}
		st.MaxTokens = max(st.MaxTokens, n)
		first[id.Tokens[0]] = struct{}{}
		for _, t := range id.Tokens {
			all[t] = struct{}{}
		}
	}
	st.FirstTokens, st.Vocabulary = len(first), len(all)
	if len(s.Identifiers) > 0 {
		st.MeanTokens = float64(total) / float64(len(s.Identifiers))
	}
	return st, nil
}
