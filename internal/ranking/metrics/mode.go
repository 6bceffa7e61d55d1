package metrics

import "github.com/redsi/redsi/internal/corpora/trec"

// Mode is what becomes of hypotheses that are not a document's identifier.
type Mode string

const (
	// Raw keeps them: they displace documents from the first k positions.
	Raw Mode = "raw"
	// PostFiltered removes them and keeps the order of the rest. It is the paper's
	// default. A trie-constrained ranking has none, so both modes agree.
	PostFiltered Mode = "post-filtered"
)

// Modes lists both.
func Modes() []Mode { return []Mode{Raw, PostFiltered} }

// Documents returns a ranking's documents; positions of it are ranks. Of a document that
// several hypotheses name only the first counts. Under Raw the others keep their ranks, as
// hypotheses without document do: they are "".
func (mode Mode) Documents(r *trec.Ranking) []string {
	out := make([]string, 0, len(r.Hypotheses))
	seen := make(map[string]struct{}, len(r.Hypotheses))
	for _, h := range r.Hypotheses {
		_, again := seen[h.Document]
		switch {
		case h.Document != "" && !again:
			seen[h.Document] = struct{}{}
			out = append(out, h.Document)
		case mode == Raw:
			out = append(out, "")
		}
	}
	return out
}
