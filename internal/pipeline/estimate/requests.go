package estimate

import (
	"fmt"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
)

// A request of memory is far off if steps took more, or less than a fourth of a request that counts.
const (
	farBelow = 4
	counts   = 100 << 20
)

// FarOff says, by place, which requests of memory are far from what such steps, or their blocks, took.
func (e *Estimate) FarOff(v *plan.Preview) map[int]string {
	found := map[int]string{}
	for i, s := range v.Plan.Steps {
		if s.Resources == nil || s.Resources.Memory == 0 {
			continue
		}
		asked, peak := s.Resources.Memory, v.Items[i].Memory
		if b := e.At(i).MemoryBasis; v.Items[i].Outcome != plan.Hit && (b == Itself || b == Block) {
			peak = e.Each[i].Memory
		}
		if peak > asked || peak > 0 && asked >= counts && peak < asked/farBelow {
			found[i] = fmt.Sprintf("asks for %s and took %s at most (%s)", words.Size(asked), words.Size(peak), s.Resources.At)
		}
	}
	return found
}
