package tensor

import (
	"errors"

	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
)

// Graph is what operations asked of a card once, and what Replay asks of it again, at once: a CUDA
// graph. It belongs to one goroutine.
type Graph struct{ graph *cudagraph.Graph }

// CanRecord reports whether what operations ask of dev can be recorded: it is a card, and the library
// for it is there (Card says why not).
func CanRecord(dev Device) bool {
	return dev.IsCUDA() && cudagraph.HasLibrary()
}

// Record calls f, whose operations dev does not do, but keeps in mind. Replay has it do them, with the same
// memory, whatever numbers are in it then. So f may depend on no number of the host that is
// another one later; what it reads and changes must exist before it and stay where it is; of what it
// makes nothing is of use after it, and no scope but its own may own that. It may not copy to the
// card or from it, wait for it, or seed it.
//
// Record comes within Run or Try. What f makes lies in the memory of beside, if that is not nil: then
// beside may be replayed before and after it only. An error leaves the card as it was.
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
	if err != nil {
		recorded.Free()
		return nil, recording(err)
	}
	return &Graph{recorded}, nil
}

// recording is err as an operation's.
func recording(err error) error {
	if of := new(Error); err == nil || errors.As(err, &of) {
		return err
	}
	return &Error{Op: "Record", Message: trim(err.Error())}
}

// Replay has the card do what was recorded, and does not wait. Dropout draws from the device's generator,
// as it is seeded (SeedDevice). It comes within Run or Try.
func (g *Graph) Replay() {
	if err := g.graph.Replay(); err != nil {
		fail("Replay", err.Error(), nil)
	}
}

// Free frees the graph, after the card has done what was replayed. A nil one is left alone.
func (g *Graph) Free() {
	if g != nil {
		g.graph.Free()
	}
}
