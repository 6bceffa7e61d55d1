// Package estimate says what the steps of a plan that have no result are expected to take, from what such steps took
// before. What has no history is counted as unknown, never as nothing.
package estimate

import (
	"fmt"
	"slices"
	"time"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
)

// History is what stores and devices say of steps of a plan besides its hits, by their index there.
type History struct {
	Samples   map[int][]Sample // earlier results of the step, of whatever configuration
	Downloads map[int]Download // what the step fetches
	Resumes   map[int]bool     // it has a checkpoint
	Priced    map[int]Priced   // by measured rates
	OnRates   bool             // what models compute is priced by rates only, which are another device's
}

// Sample is what one earlier result cost.
type Sample struct {
	Took    time.Duration
	Bytes   int64 // of its outputs; -1 if not known
	Memory  int64 // the most at a time; 0 if not known
	Updates int64 // of a training; 0 if not known
}

// Download is what a step fetches: bytes, and how many sources are of unknown size.
type Download struct {
	Bytes   int64
	Sources int
	Unknown int
}

// Basis says whose history an expectation is computed from.
type Basis string

// The bases, from the surest to none. Results of a block are of this pipeline's data, and rates of a trial's; but rates go by
// sizes and amounts, which other steps of a kind do not.
const (
	Itself  Basis = "step"  // earlier results of this step
	Block   Basis = "block" // results of other instances of its block
	Rates   Basis = "rates" // its work, by what its device was measured to do
	Kind    Basis = "kind"  // results of other steps of its kind
	Nothing Basis = ""
)

// Step is what one step is expected to cost if it runs. A checkpoint makes it less.
type Step struct {
	Basis       Basis
	P50, P90    time.Duration // 0 without a basis
	Bytes       int64         // of its outputs, the median; -1 if not known
	Memory      int64         // the 90 % quantile of the most at a time; 0 if not known
	MemoryBasis Basis         // whose results Memory is of
	Resumes     bool          // from a checkpoint
	Download    Download

	By  *rates.Rates // whose rates times are of, with the basis Rates
	Why string       // why there are no rates, of a step that says its work and has no basis
}

// Cost is what steps are expected to cost in sequence. The sum of P90, with each step slow, is above the sum's 90 % quantile.
type Cost struct {
	Steps     int     `json:"steps"`
	Unknown   int     `json:"unknown"` // of them without history: in no sum of times
	P50       float64 `json:"expect_s"`
	P90       float64 `json:"expect_p90_s"`
	GPU       float64 `json:"gpu_hours"`      // of P50
	Bytes     int64   `json:"bytes"`          // of outputs
	Unsized   int     `json:"bytes_unknown"`  // steps
	Download  int64   `json:"download_bytes"` // of sources that the store does not have
	Sources   int     `json:"download_sources"`
	Unfetched int     `json:"download_unknown"` // sources of unknown size
}

func (c *Cost) Add(x Cost) {
	c.Steps += x.Steps
	c.Unknown += x.Unknown
	c.P50 += x.P50
	c.P90 += x.P90
	c.GPU += x.GPU
	c.Bytes += x.Bytes
	c.Unsized += x.Unsized
	c.Download += x.Download
	c.Sources += x.Sources
	c.Unfetched += x.Unfetched
}

// Cost is what the step is expected to cost, on a queue.
func (x Step) Cost(queue string) Cost {
	c := Cost{Steps: 1, P50: x.P50.Seconds(), P90: x.P90.Seconds(), Bytes: max(0, x.Bytes),
		Download: x.Download.Bytes, Sources: x.Download.Sources, Unfetched: x.Download.Unknown}
	if x.Basis == Nothing {
		c.Unknown = 1
	}
	if queue == "gpu" {
		c.GPU = x.P50.Hours()
	}
	if x.Bytes < 0 {
		c.Unsized = 1
	}
	return c
}

// Estimate is what the steps of a plan without a result are expected to cost, MAYBE steps among them.
type Estimate struct {
	Cost
	GPUSteps   int `json:"gpu_steps"`   // of Steps, on the queue gpu
	GPUUnknown int `json:"gpu_unknown"` // of Unknown

	CriticalPath    []int   `json:"-"`                     // the longest chain by P50: indexes into the plan, first to last
	Critical        float64 `json:"critical_path_s"`       // its P50
	CriticalUnknown int     `json:"critical_path_unknown"` // of its steps without history

	Memory        int64 `json:"memory,omitempty"` // of the step that is expected to have the most at a time
	MemoryOf      int   `json:"-"`                // that step, by its index in the plan
	MemoryUnknown int   `json:"memory_unknown"`   // steps whose memory is not known

	Each []Step `json:"-"` // by index in the plan; zero for hits, nil where nothing is left to do
}

// At is what the step at a place of the plan is expected to cost; zero for hits.
func (e *Estimate) At(i int) Step {
	if e.Each == nil {
		return Step{}
	}
	return e.Each[i]
}

// Wall is the least number of seconds with so many steps at a time: by the longest chain, and by the work of each queue.
func (e *Estimate) Wall(slots, gpuSlots int) float64 {
	gpu := e.GPU * time.Hour.Seconds()
	return max(e.Critical, (e.P50-gpu)/float64(max(1, slots)), gpu/float64(max(1, gpuSlots)))
}

// Of estimates what a preview leaves to do: by earlier results of a step, of its block (hits too), by rates, by its kind.
func Of(v *plan.Preview, h History) *Estimate {
	if v.Done() {
		return &Estimate{}
	}
	e := &Estimate{Each: make([]Step, len(v.Items))}
	blocks, kinds := pools(v, h)
	for i, s := range v.Todo() {
		own, priced := &pool{}, h.Priced[i]
		own.add(h.of(i)...)
		own.sort()
		x := first(own, blocks[s.Block()], rated(priced), kinds[s.Task.Kind])
		less := priced.Took > 0 && x.Bytes > 0 && priced.Bytes > farBelow*x.Bytes // data, which says nothing then
		if less {
			x.Bytes = priced.Bytes
		}
		if less || h.OnRates && priced.Model {
			on := first(nil, nil, rated(priced), nil)
			x.Basis, x.P50, x.P90 = on.Basis, on.P50, on.P90
		}
		switch x.Basis {
		case Rates:
			x.By = priced.By
		case Nothing:
			x.Why = priced.Why
		}
		d := h.Downloads[i]
		if x.Bytes < 0 && d.Sources > 0 && d.Unknown == 0 {
			x.Bytes = d.Bytes
		}
		x.Resumes, x.Download = h.Resumes[i], d
		e.Each[i] = x
		cost := x.Cost(s.Queue)
		e.Add(cost)
		if s.Queue == "gpu" {
			e.GPUSteps++
			e.GPUUnknown += cost.Unknown
		}
		switch {
		case x.Memory == 0:
			e.MemoryUnknown++
		case x.Memory > e.Memory:
			e.Memory, e.MemoryOf = x.Memory, i
		}
	}
	e.chain(v)
	return e
}

// By is whose rates prices are of, each once.
func (e *Estimate) By() (all []*rates.Rates) {
	for _, x := range e.Each {
		if x.By != nil && !slices.Contains(all, x.By) {
			all = append(all, x.By)
		}
	}
	return all
}

func pools(v *plan.Preview, h History) (blocks, kinds map[string]*pool) {
	blocks, kinds = map[string]*pool{}, map[string]*pool{}
	for i, s := range v.Plan.Steps {
		samples := h.of(i)
		if it := v.Items[i]; it.Outcome == plan.Hit {
			samples = []Sample{{Took: it.Took, Bytes: it.Bytes, Memory: it.Memory}}
		}
		at(blocks, s.Block()).add(samples...)
		at(kinds, s.Task.Kind).add(samples...)
	}
	for _, all := range []map[string]*pool{blocks, kinds} {
		for _, p := range all {
			p.sort()
		}
	}
	return blocks, kinds
}

func at(pools map[string]*pool, name string) *pool {
	if pools[name] == nil {
		pools[name] = &pool{}
	}
	return pools[name]
}

// of is a step's samples; of a training, as long as they would be with its own updates.
func (h History) of(i int) (out []Sample) {
	planned := h.Priced[i].Updates
	if planned == 0 {
		return h.Samples[i]
	}
	for _, x := range h.Samples[i] {
		if x.Updates > 0 {
			x.Took = time.Duration(float64(x.Took) * planned / float64(x.Updates))
			out = append(out, x)
		}
	}
	return out
}

// rated is the pool of a price, as of one result; nil: there is no price.
func rated(p Priced) *pool {
	if p == (Priced{}) {
		return nil
	}
	out := &pool{}
	out.add(Sample{Took: p.Took, Bytes: p.Bytes, Memory: p.Memory})
	if p.Took <= 0 { // the price has no time
		out.took = nil
	}
	return out
}

// first takes the surest basis that has samples, for time, bytes and memory each.
func first(own, block, rated, kind *pool) Step {
	out := Step{Bytes: -1}
	for _, from := range []struct {
		basis Basis
		*pool
	}{{Itself, own}, {Block, block}, {Rates, rated}, {Kind, kind}} {
		if from.pool == nil {
			continue
		}
		if out.Basis == Nothing && len(from.took) > 0 {
			out.Basis, out.P50, out.P90 = from.basis, quantile(0.5, from.took), quantile(0.9, from.took)
		}
		if out.Bytes < 0 && len(from.bytes) > 0 {
			out.Bytes = quantile(0.5, from.bytes)
		}
		if out.Memory == 0 && len(from.memory) > 0 {
			out.Memory, out.MemoryBasis = quantile(0.9, from.memory), from.basis
		}
	}
	return out
}

// pool is samples of steps that are thought alike.
type pool struct {
	took   []time.Duration
	bytes  []int64
	memory []int64
}

func (p *pool) add(samples ...Sample) {
	for _, s := range samples {
		p.took = append(p.took, s.Took)
		if s.Bytes >= 0 {
			p.bytes = append(p.bytes, s.Bytes)
		}
		if s.Memory > 0 {
			p.memory = append(p.memory, s.Memory)
		}
	}
}

func (p *pool) sort() {
	slices.Sort(p.took)
	slices.Sort(p.bytes)
	slices.Sort(p.memory)
}

// quantile is the quantile of a sorted list by the nearest rank.
func quantile[T any](q float64, of []T) T {
	r := int(q * float64(len(of)))
	if float64(r) == q*float64(len(of)) {
		r--
	}
	return of[max(0, r)]
}

// chain finds the critical path; of chains that take equally long, the chain with more steps.
func (e *Estimate) chain(v *plan.Preview) {
	type end struct {
		took  float64
		steps int
		from  int
	}
	longer := func(a, b end) bool { return a.took > b.took || a.took == b.took && a.steps > b.steps }
	ends := make([]end, len(v.Items))
	last := -1
	for i, s := range v.Todo() {
		best := end{from: -1}
		for _, d := range s.Deps {
			if v.Items[d].Outcome != plan.Hit && longer(ends[d], best) {
				best = ends[d]
				best.from = d
			}
		}
		ends[i] = end{best.took + e.Each[i].P50.Seconds(), best.steps + 1, best.from}
		if last < 0 || longer(ends[i], ends[last]) {
			last = i
		}
	}
	for i := last; i >= 0; i = ends[i].from {
		e.CriticalPath = append(e.CriticalPath, i)
		if e.Each[i].Basis == Nothing {
			e.CriticalUnknown++
		}
	}
	slices.Reverse(e.CriticalPath)
	if last >= 0 {
		e.Critical = ends[last].took
	}
}

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
