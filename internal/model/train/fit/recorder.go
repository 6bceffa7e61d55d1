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

// what of an update is asked for.
type what int

const (
	single  what = iota // all of it
	one                 // the gradients of the first part
	another             // those of another part
	last                // the change by their sum
)

// turns has a lock for each card (tensor.Device, *sync.Mutex). All learners of this process on one draw from
// one generator, which an update seeds, and from which nobody else may draw while one is recorded.
var turns sync.Map

// turn waits for the others on a card to have asked for their updates; end is to be called.
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

// recorder asks a card for calls: for the first one of a sort operation by operation, which leaves behind
// what later ones find; the second one is recorded, and replayed as all later ones are. All
// graphs lie in the same memory: none needs anything that another has made.
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

// do brings numbers to the card and asks it for what f does with them; f is called where that is not
// recorded yet. Where record is not set, nothing is.
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
