package metrics

import "github.com/redsi/redsi/internal/corpora/trec"

// Mode is what becomes of hypotheses that are not a document's identifier.
type Mode string

const (
	// Raw keeps them: they displace documents from the first k positions.
	Raw Mode = "raw"
	// PostFiltered removes them and keeps the order of the rest. It is the paper's
	// default. A trie-constrained ranking has none, so both modes agree.
	PostFiltered Mode = "post_filtered"
)

// Documents are the documents of a ranking, each once, best first.
func Documents(r *trec.Ranking) (list []string) {
	seen := make(map[string]bool, len(r.Hypotheses))
	for _, h := range r.Hypotheses {
		if h.Document != "" && !seen[h.Document] {
			seen[h.Document] = true
			list = append(list, h.Document)
		}
	}
	return list
}
