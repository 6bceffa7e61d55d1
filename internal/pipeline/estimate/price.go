package estimate

import (
	"fmt"
	"math"
	"time"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// Pricing is what steps are priced by that say their work.
type Pricing struct {
	Registry *step.Registry
	CPU      *rates.Rates                 // of this machine's processors; nil: they were not measured
	Card     *rates.Rates                 // of its cards; nil: they were not measured
	HasCard  bool                         // steps that may choose compute on a card
	On       *rates.Rates                 // models are asked on this device instead, whatever history says; nil: here
	Counts   func(i int) map[string]int64 // of a hit's result; an error counts as none
}

// Priced is what a step's work takes by measured rates.
type Priced struct {
	Took    time.Duration // 0: it does not say its work, or there is no rate for it
	By      *rates.Rates  // whose rates those are
	Memory  int64         // the most of the machine's memory; 0: not known
	Bytes   int64         // of its outputs; -1: not known
	Updates float64       // that it makes; 0: none, or not known
	Model   bool          // a model computes
	Why     string        // why there is no time, of a step that says its work
}

// Price prices the steps of a preview that are no hits. downloads are what they fetch.
func (p Pricing) Price(v *plan.Preview, downloads map[int]Download) map[int]Priced {
	r := &pricer{Pricing: p, v: v, downloads: downloads, index: v.Plan.Places(), works: map[int]step.Work{}, counts: map[counted]amount{}}
	out := map[int]Priced{}
	for i := range v.Todo() {
		out[i] = r.price(i)
	}
	return out
}

type counted struct {
	step int
	name string
}

type amount struct {
	n     float64
	known bool
}

type pricer struct {
	Pricing
	v         *plan.Preview
	downloads map[int]Download
	index     map[string]int
	works     map[int]step.Work
	counts    map[counted]amount
}

func (r *pricer) price(i int) (p Priced) {
	p.Bytes = -1
	if n, ok := r.count(i, step.BytesCount); ok {
		p.Bytes = int64(n)
	}
	p.Updates = r.work(i).Counts[step.UpdatesCount].Times
	var took float64
	for _, d := range r.work(i).Does {
		p.Model = p.Model || d.Model.Set()
		on := r.device(i, d)
		switch {
		case p.Why != "":
		case on == nil:
			p.Why = "the device was not measured: run redsi doctor --rates"
		case d.Evaluates && on.Evaluated:
		default:
			seconds, memory, why := r.takes(d, on)
			took, p.Why, p.By = took+seconds, why, on
			if !on.Card {
				p.Memory = max(p.Memory, memory)
			}
		}
	}
	if p.Why == "" {
		p.Took = time.Duration(math.MaxInt64)
		if ns := took * float64(time.Second); ns < math.MaxInt64 {
			p.Took = time.Duration(ns)
		}
	}
	return p
}

// device is where a step does a piece of its work.
func (r *pricer) device(i int, d step.Doing) *rates.Rates {
	switch {
	case !d.Model.Set():
		return r.CPU
	case r.On != nil:
		return r.On
	case !r.HasCard:
		return r.CPU
	}
	asks, _ := r.v.Plan.Steps[i].Task.Tree() // a task that cannot be read names no device
	if asks["device"] == "cpu" {
		return r.CPU
	}
	return r.Card
}

// takes is the seconds and the memory of a piece of work, or why there are none.
func (r *pricer) takes(d step.Doing, on *rates.Rates) (seconds float64, memory int64, why string) {
	n, ok := r.amount(d.Amount)
	if !ok {
		return 0, 0, "how much it has to do is not known yet"
	}
	shape, ids, unit := r.shape(d.Model), r.identifiers(d.Identifiers), d.Unit
	if d.Model.Set() && shape == "" {
		return 0, 0, "models of the sizes of its model are not measured"
	}
	if ids == "atomic" && unit != step.Updates {
		unit = step.Rankings
	}
	documents, ok := r.of(d.Identifiers, "documents")
	if !ok {
		documents = rates.Documents
	}
	rate, ok := on.Of(unit, shape, ids, documents)
	if training, found := on.Of(unit.InTraining(), shape, ids, documents); found && d.Evaluates {
		rate = training
	}
	if !ok {
		return 0, 0, fmt.Sprintf("the rates of %s have no %s of %s", on.Device, unit, shape)
	}
	return n / rate.PerSecond, rate.Memory, ""
}

// work is the work of step i, for which its kind is asked once.
func (r *pricer) work(i int) step.Work {
	w, ok := r.works[i]
	if !ok {
		task := r.v.Plan.Steps[i].Task
		if spec := r.Registry.Lookup(task.Kind); spec != nil {
			w = spec.Work(task)
		}
		r.works[i] = w
	}
	return w
}

// modelBytes is the size of the model that a task leaves.
func (r *pricer) modelBytes(w step.Work) (float64, bool) {
	name := r.shape(w.Like)
	for _, s := range rates.Shapes() {
		if s.Name != name {
			continue
		}
		bytes := float64(s.Bytes())
		for _, d := range w.Does {
			if documents, ok := r.of(d.Identifiers, "documents"); ok && d.Unit == step.Updates && r.identifiers(d.Identifiers) == "atomic" {
				bytes += 4 * float64(s.Width) * documents
			}
		}
		return bytes, true
	}
	return 0, false
}

func (r *pricer) source(in step.Input) (int, bool) {
	if in.Ref == nil {
		return 0, false
	}
	i, ok := r.index[in.Ref.Step]
	return i, ok
}

// shape is the shape of a model; "": it is not known.
func (r *pricer) shape(in step.Input) string {
	i, ok := r.source(in)
	if !ok {
		return ""
	}
	w := r.work(i)
	if w.Shape == "" && w.Like.Set() {
		return r.shape(w.Like)
	}
	return w.Shape
}

func (r *pricer) identifiers(in step.Input) string {
	if i, ok := r.source(in); ok {
		return r.work(i).Identifiers
	}
	return ""
}

func (r *pricer) amount(a step.Amount) (n float64, ok bool) {
	n = a.Times
	if len(a.Of) > 0 {
		sum := 0.0
		for _, in := range a.Of {
			x, ok := r.of(in, a.Count)
			if !ok {
				return 0, false
			}
			sum += x
		}
		n *= sum
	}
	if a.AtMost > 0 {
		n = min(n, a.AtMost)
	}
	return n, true
}

func (r *pricer) of(in step.Input, name string) (float64, bool) {
	if i, ok := r.source(in); ok {
		return r.count(i, name)
	}
	return 0, false
}

// count is a count of a step's result: as the result has it, else as its kind says, else as what the step reads has it.
func (r *pricer) count(i int, name string) (float64, bool) {
	key := counted{i, name}
	a, ok := r.counts[key]
	if !ok {
		a.n, a.known = r.find(i, name)
		r.counts[key] = a
	}
	return a.n, a.known
}

func (r *pricer) find(i int, name string) (float64, bool) {
	hit, bytes := r.v.Items[i].Outcome == plan.Hit, name == step.BytesCount
	if hit && bytes {
		return float64(r.v.Items[i].Bytes), true
	}
	if hit && r.Counts != nil {
		if n, ok := r.Counts(i)[name]; ok {
			return float64(n), true
		}
	}
	if a, ok := r.work(i).Counts[name]; ok {
		if n, ok := r.amount(a); ok {
			return n, true
		}
	}
	if d := r.downloads[i]; bytes && d.Sources > 0 && d.Unknown == 0 { // without what the store has
		return float64(d.Bytes), true
	}
	if bytes {
		return r.modelBytes(r.work(i))
	}
	for _, d := range r.v.Plan.Steps[i].Deps {
		if n, ok := r.count(d, name); ok {
			return n, true
		}
	}
	return 0, false
}
