//go:build !notorch

package tensor

import (
	"sync"

	"github.com/redsi/redsi/internal/tensor/cudalib"
)

// cardState loads libtorch's CUDA half when it is first called: before the first operation, since
// libtorch then looks once for what devices there are.
var cardState = sync.OnceValue(func() cudalib.State { return cudalib.Load(Version()) })

// Card says whether this process computes on a card if it is asked to, and why not.
func Card() cudalib.State { return cardState() }
