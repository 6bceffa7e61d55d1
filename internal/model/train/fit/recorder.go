package fit

import (
	"sync"

	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
)

// call is what a card is asked for at once: two of the same are the same operations.
type call struct {
	what   what
	shapes seq2seq.Shapes
}

// what is the part of an update that is asked for.
type what int

const (
	single  what = iota // all of it
	one                 // the gradients of the first part
	another             // the gradients of another part
	last                // the change by their sum
)

// turns has a lock for each card (tensor.Device, *sync.Mutex). All learners of this process on one draw from
// one generator, which an update seeds, and from which nobody else may draw while one is recorded.
var turns sync.Map

// turn blocks until the other learners on a card have asked for their updates; end must be called.
func turn(device tensor.Device) (end func()) {
	of, _ := turns.LoadOrStore(device, new(sync.Mutex))
	of.(*sync.Mutex).Lock()
	return of.(*sync.Mutex).Unlock
}

// mostGraphs bounds what is recorded. Batches of a training have tens of shapes (seq2seq.PrepareStep).
const mostGraphs = 256

// Recorded says how much of what a card was asked for was recorded and replayed.
type Recorded struct {
	Graphs   int   // that were recorded
	Replays  int64 // of them
	Single   int64 // calls whose operations were asked for one by one
	Failed   error // why nothing was recorded any more; nil where nothing failed
	Possible bool  // the device can be recorded
}

// recorder asks a card for calls: for the first call of a sort operation by operation, which leaves behind what later
// calls find; the second one is recorded, and replayed as all later ones are. All graphs lie in the same memory: none
// needs anything of another.
type recorder struct {
	Recorded
	device tensor.Device
	scope  *tensor.Scope
	seen   map[call]bool
	graphs map[call]recorded
	newest *tensor.Graph
}

// recorded is a graph, and where it reads its numbers.
type recorded struct {
	graph   *tensor.Graph
	numbers *tensor.Tensor
}

func newRecorder(device tensor.Device) *recorder {
	return &recorder{Recorded: Recorded{Possible: tensor.CanRecord(device)}, device: device,
		scope: tensor.NewScope(), seen: map[call]bool{}, graphs: map[call]recorded{}}
}

// do brings numbers to the card and asks it for f's operations with them; it calls f unless the call was recorded.
// Without record nothing is recorded.
func (r *recorder) do(c call, numbers []int64, record bool, f func(s *tensor.Scope, numbers *tensor.Tensor)) {
	if have, ok := r.graphs[c]; ok {
		r.scope.UploadInPlace(have.numbers, numbers)
		have.graph.Replay()
		r.Replays++
		return
	}
	if record && r.Possible && r.Failed == nil && r.seen[c] && len(r.graphs) < mostGraphs {
		fresh := recorded{numbers: r.scope.Upload(r.device, numbers)[0]}
		fresh.graph, r.Failed = tensor.Record(r.device, r.newest, func() {
			tensor.Within(func(s *tensor.Scope) { f(s, fresh.numbers) })
		})
		if r.Failed == nil {
			r.graphs[c], r.newest = fresh, fresh.graph
			r.Graphs++
			fresh.graph.Replay()
			r.Replays++
			return
		}
		tensor.Free(fresh.numbers)
	}
	r.seen[c] = true
	r.Single++
	tensor.Within(func(s *tensor.Scope) { f(s, s.Upload(r.device, numbers)[0]) })
}

func (r *recorder) close() {
	for _, have := range r.graphs {
		have.graph.Free()
	}
	r.scope.Close()
}
