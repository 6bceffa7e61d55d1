package estimate

import (
	"fmt"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
)

// A request of memory is far off if steps took more than it, or less than the fourth part of
// one that counts.
const (
	farBelow = 4
	counts   = 100 << 20
)

// FarOff says of the steps of a preview whose request of memory is far from what they took,
// by their own results or those of their block, by their index.
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
