package tensor

import (
	"errors"

	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
)

// Graph is a recording of what operations asked of a card, which Replay asks for at once: a CUDA graph. It belongs to
// one goroutine.
type Graph struct{ graph *cudagraph.Graph }

// CanRecord reports whether what operations ask of dev can be recorded: it is a card, and the library
// for it is there (Card says why not).
func CanRecord(dev Device) bool {
	return dev.IsCUDA() && cudagraph.HasLibrary()
}

// Record calls f, whose operations dev does not do, but records. Replay has it do them, with the same memory, whatever
// numbers are in it then. So f must not depend on a number of the host that changes later; what it reads and changes
// must exist before it and stay where it is; tensors that f creates are of no use after it, and only f's own scopes may
// own them. It must not copy to the card or from it, wait for it, or seed it.
//
// Record must be called within Run or Try. What f allocates lies in the memory of beside, if that is not nil: then
// beside may be replayed only before and after it. An error leaves the card as it was.
func Record(dev Device, beside *Graph, f func()) (*Graph, error) {
	if !CanRecord(dev) {
		return nil, &Error{Op: "Record", Message: "nothing is recorded on " + dev.String()}
	}
	var other *cudagraph.Graph
	if beside != nil {
		other = beside.graph
	}
	recorded, err := cudagraph.Begin(int(dev.c()), other)
	if err == nil {
		err = errors.Join(Try(f), recorded.End())
	}
	if err == nil {
		return &Graph{recorded}, nil
	}
	recorded.Free()
	if _, known := errors.AsType[*Error](err); !known {
		err = &Error{Op: "Record", Message: trim(err.Error())}
	}
	return nil, err
}

// Replay has the card do what was recorded, and does not wait. Dropout draws from the device's generator,
// as it is seeded (SeedDevice). It comes within Run or Try.
func (g *Graph) Replay() {
	if err := g.graph.Replay(); err != nil {
		fail("Replay", err.Error(), nil)
	}
}

// Free frees the graph, after the card has done what was replayed. nil is skipped.
func (g *Graph) Free() {
	if g != nil {
		g.graph.Free()
	}
}
