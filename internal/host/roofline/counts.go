package roofline

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Counted is what an operation of a model was counted to ask of a card: tensor.Counts of it,
// on an emulated card. counts.json has a list of them, which internal/model/counted
// writes and compares.
type Counted struct {
	Operation string           `json:"operation"` // train, search_start, search_step, trie_step, rank, embed
	Of        string           `json:"of"`        // model: tiny, small, base, bert; tiny_atomic …
	By        string           `json:"by"`        // of counted.Models
	Model     Model            `json:"model"`
	Precision string           `json:"precision"`
	Optimizer string           `json:"optimizer,omitempty"`
	Batch     Batch            `json:"batch"`
	Name      string           `json:"name"` // of the batch: real, full, …
	Recompute bool             `json:"recompute,omitempty"`
	Beams     int64            `json:"beams,omitempty"`
	Launches  int64            `json:"launches"`
	Uploads   int64            `json:"uploads"`
	Up        int64            `json:"upload_bytes"`
	Downloads int64            `json:"downloads"`
	Down      int64            `json:"download_bytes"`
	Syncs     map[string]int64 `json:"syncs,omitempty"`
	Flops     int64            `json:"flops"`
	Bytes     int64            `json:"bytes"`
	Peak      int64            `json:"peak,omitempty"` // bytes live at the most, without weights and what the optimizer remembers
	Operators map[string]int64 `json:"operators,omitempty"`
}

// The operations that are counted.
const (
	OpTrain = "train"        // an update
	OpStart = "search_start" // encoding queries, and the keys of cross-attention
	OpStep  = "search_step"  // a token of a search with beams
	OpTrie  = "trie_step"    // the same along a trie
	OpRank  = "rank"         // queries whose documents are a token each
	OpEmbed = "embed"        // texts, by an encoder
)

//go:embed counts.json
var countsJSON []byte

var counts = sync.OnceValue(func() []Counted {
	var all []Counted
	if err := json.Unmarshal(countsJSON, &all); err != nil {
		panic("roofline: counts.json: " + err.Error()) // it is ours
	}
	return all
})

// Counts are all that were counted.
func Counts() []Counted { return slices.Clone(counts()) }

// layers is what the launches of an operation grow with.
func layers(m Model) float64 { return float64(m.Encoder + m.Decoder) }

// launchesOf is how many operations a card is given: a line through what was counted of
// models with fewer and more layers, in this precision or, if there is none, in another.
func launchesOf(operation string, m Model, precision string) float64 {
	x, y := points(operation, func(c *Counted) bool { return (c.Precision == "fp32") == (precision == "fp32") })
	if len(x) == 0 {
		x, y = points(operation, func(*Counted) bool { return true })
	}
	if len(x) == 0 {
		panic(fmt.Sprintf("roofline: no counts of %s", operation))
	}
	base, each := line(x, y)
	return math.Max(1, base+each*layers(m))
}

func points(operation string, of func(*Counted) bool) (x, y []float64) {
	for _, c := range counts() {
		if c.Operation == operation && !c.Recompute && of(&c) {
			x, y = append(x, layers(c.Model)), append(y, float64(c.Launches))
		}
	}
	return x, y
}

// line is the least squares' one.
func line(x, y []float64) (base, each float64) {
	var mx, my, xx, xy float64
	n := float64(len(x))
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xx, xy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my)
	}
	if xx == 0 { // of one size only: launches grow as layers do
		return 0, my / mx
	}
	each = xy / xx
	return my - each*mx, each
}
