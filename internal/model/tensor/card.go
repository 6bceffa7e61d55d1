package tensor

import (
	"fmt"
	"sync"

	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
	"github.com/redsi/redsi/internal/model/tensor/cudalib"
)

// cardState loads libtorch's CUDA half when it is first called: before the first operation, since
// libtorch then looks once for what devices there are.
var cardState = sync.OnceValue(func() cudalib.State { return withGraphs(cudalib.Load(Version())) })

// withGraphs opens the library by which a card's work is recorded. Without it the card is asked for one
// operation at a time.
func withGraphs(s cudalib.State) cudalib.State {
	if s.Graphs == "" {
		return s
	}
	if err := cudagraph.Open(s.Graphs); err != nil {
		s.Graphs, s.GraphsReason = "", fmt.Sprintf("the library that records a card's work does not load: %v", err)
	}
	return s
}

// Card says whether this process computes on a card if it is asked to, and why not.
func Card() cudalib.State { return cardState() }
