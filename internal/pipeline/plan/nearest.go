package plan

import (
	"github.com/redsi/redsi/internal/pipeline"
)

// nearest finds the address, or block prefix of one, that a mistyped target
// most likely meant; "" if nothing is close.
func nearest(target string, p *pipeline.Pipeline) string {
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Address)
		if block := pipeline.BlockOf(s.Address); block != s.Address {
			names = append(names, block)
		}
	}
	return pipeline.Nearest(target, names)
}
