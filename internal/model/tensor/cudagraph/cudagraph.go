//go:build cgo

package cudagraph

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "cudagraph.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Graph is what was recorded. It belongs to one goroutine.
type Graph struct{ at unsafe.Pointer }

// Open takes the library at path. It comes before the first recording, after libtorch's CUDA half.
func Open(path string) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	if err := failed(C.redsi_graphs_open(p)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func HasLibrary() bool { return C.redsi_graphs_known() != 0 }

// Begin begins to record what this thread, and the backward passes that it starts, ask of a card, which does none of it
// now; the caller stays on its thread until End. What is allocated meanwhile lies in the graph's memory, or in that of
// beside, if it is not nil: then the two never need it at once. The graph is to be freed, after an error too.
func Begin(device int, beside *Graph) (*Graph, error) {
	g := &Graph{}
	var other unsafe.Pointer
	if beside != nil {
		other = beside.at
	}
	return g, failed(C.redsi_graph_begin(&g.at, C.int(device), other))
}

func (g *Graph) End() error { return failed(C.redsi_graph_end(g.at)) }

// Replay has the card do all that was recorded, and does not wait for it.
func (g *Graph) Replay() error { return failed(C.redsi_graph_replay(g.at)) }

// Free frees the graph. The card must not be working on it.
func (g *Graph) Free() {
	if g.at != nil {
		C.redsi_graph_free(g.at)
		g.at = nil
	}
}

func failed(text *C.char) error {
	if text == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(text))
	return errors.New(C.GoString(text))
}
