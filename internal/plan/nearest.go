package plan

import (
	"github.com/agext/levenshtein"

	"github.com/redsi/redsi/internal/pipeline"
)

// nearest finds the address, or block prefix of one, that a mistyped target
// most likely meant; "" if nothing is close.
func nearest(target string, p *pipeline.Pipeline) string {
	best, bestDist := "", 4
	try := func(s string) {
		if d := levenshtein.Distance(target, s, nil); d < bestDist {
			best, bestDist = s, d
		}
	}
	for _, s := range p.Steps {
		try(s.Address)
		if block := pipeline.BlockOf(s.Address); block != s.Address {
			try(block)
		}
	}
	return best
}
