package decode

import "github.com/redsi/redsi/internal/system/lists"

// Ranked is an entry of a ranking.
type Ranked struct {
	Document int     // index of the document; -1 if the hypothesis is not an identifier
	Score    float64 // larger is better
	Tokens   []int32 // what was generated; nil for a document found without a search
}

// Result is what was found for a query: the hypotheses in order of score, invalid ones among them, no document twice.
type Result struct {
	Ranking []Ranked
	Invalid int // hypotheses that are not a document's identifier
}

// Valid returns the ranking without the hypotheses that are not an identifier: the
// scores and the order of the rest are unchanged (paper, "Post-filtered decoding").
func (r *Result) Valid() []Ranked {
	return lists.Filter(r.Ranking, func(h Ranked) bool { return h.Document >= 0 })
}

// Rank names the documents of hypotheses. find returns the document of a complete token sequence, as docid.Trie.Find
// does. Of hypotheses for one document only the first counts.
func Rank(hypotheses []Hypothesis, find func(tokens []int32) (document int, ok bool)) Result {
	var r Result
	seen := make(map[int]bool, len(hypotheses))
	for _, h := range hypotheses {
		document, ok := find(h.Tokens)
		if !ok {
			document = -1
			r.Invalid++
		} else if seen[document] {
			continue
		}
		seen[document] = true
		r.Ranking = append(r.Ranking, Ranked{document, h.Score, h.Tokens})
	}
	return r
}
