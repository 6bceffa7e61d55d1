package hours

import (
	"cmp"
	"slices"
	"time"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// Options are the cards that hours are asked for.
type Options struct {
	Card        roofline.Card
	Cards       int
	Price       float64 // of a card and an hour
	Unsupported string  // why libtorch computes nothing on such a card; "" if it does
}

// Facts are what a store knows of a plan's steps.
type Facts struct {
	// Counts are those of a hit's result, nil of another's.
	Counts func(i int) map[string]int64
	// File reads an output's file, or the output if it is one file and name is ""; nil if
	// there is no such.
	File func(i int, output, name string) ([]byte, error)
	// Took is what results of a step took on cards, the newest first: of a hit, its own.
	Took func(i int) []Took
}

// Took is what a result took on a card, by the name that the driver has for it.
type Took struct {
	Card string
	Took time.Duration
}

// Fit is a step whose training does not fit the card.
type Fit struct {
	Step int
	roofline.Fit
}

// Hours is what the steps of a plan that are not hits come to. Steps on the queue gpu are
// done by the cards, others are estimated by their history.
type Hours struct {
	Options
	*estimate.Estimate
	ByBasis map[estimate.Basis]int // steps on cards

	Spent []Spent // what computed hours go into, the most first

	Wall time.Duration // with so many cards, if each step begins as soon as it can and those of unknown time take none

	TooLarge []Fit
	Why      map[int]string // of a step on cards, why its hours are not known
	Assumed  []string       // what times depend on
}

// Spent is a part of computed hours.
type Spent struct {
	On   string // of roofline.Sorts, or loading
	Took time.Duration
}

// loading is what of a time passes before a card has anything to do.
const loading = "loading"

// Cost is that of the cards while they compute.
func (h *Hours) Cost() float64 { return h.GPUP50.Hours() * h.Price }

// Rent is that of all cards until the last one is done.
func (h *Hours) Rent() float64 { return h.Wall.Hours() * h.Price * float64(h.Cards) }

// Of computes hours of a preview, whose estimate by history is e.
func Of(v *plan.Preview, reg *step.Registry, e *estimate.Estimate, facts Facts, o Options) (*Hours, error) {
	r := newResolver(v, reg, facts)
	h := &Hours{Options: o, ByBasis: map[estimate.Basis]int{}, Why: map[int]string{}}
	computed := make([]time.Duration, len(v.Items)) // of steps on cards; 0: not known
	parts := make([]roofline.Parts, len(v.Items))   // of these, in seconds
	for i, s := range v.Plan.Steps {
		if s.Queue != "gpu" {
			continue
		}
		job, why, err := r.job(i)
		if err != nil {
			return nil, err
		}
		if why != "" {
			h.Why[i] = why
			continue
		}
		computed[i], parts[i] = job.on(o.Card)
		if fit := job.fit(o.Card); v.Items[i].Outcome != plan.Hit && !fit.Fits {
			h.TooLarge = append(h.TooLarge, Fit{i, fit})
		}
	}
	measured := func(i int) (took []time.Duration) {
		for _, t := range facts.Took(i) {
			if c, ok := roofline.CardOf(t.Card); ok && c.Name == o.Card.Name {
				took = append(took, t.Took)
			}
		}
		return took
	}
	factors := map[string][]float64{} // by kind, what was measured over what is computed
	for i, s := range v.Plan.Steps {
		if v.Items[i].Outcome == plan.Hit && computed[i] > 0 {
			for _, took := range measured(i) {
				factors[s.Task.Kind] = append(factors[s.Task.Kind], took.Seconds()/computed[i].Seconds())
			}
		}
	}
	each := slices.Clone(e.Each)
	spent := make([]float64, len(roofline.Sorts())+1)
	for i, s := range v.Plan.Steps {
		if s.Queue != "gpu" || v.Items[i].Outcome == plan.Hit {
			continue
		}
		x := &each[i]
		x.Basis, x.P50 = estimate.Nothing, 0
		own, of := measured(i), factors[s.Task.Kind]
		switch {
		case len(own) > 0:
			x.Basis, x.P50 = estimate.Itself, median(own)
			delete(h.Why, i)
		case computed[i] > 0 && len(of) > 0:
			x.Basis, x.P50 = estimate.Scaled, time.Duration(median(of)*float64(computed[i]))
		case computed[i] > 0:
			x.Basis, x.P50 = estimate.Computed, computed[i]
		case h.Why[i] == "":
			h.Why[i] = "its kind does not say what it computes"
		}
		x.P90 = x.P50
		h.ByBasis[x.Basis]++
		if x.Basis == estimate.Computed || x.Basis == estimate.Scaled {
			by := x.P50.Seconds() / computed[i].Seconds()
			for n, seconds := range parts[i] {
				spent[n] += by * seconds
			}
			spent[len(parts[i])] += by * (computed[i].Seconds() - parts[i].Seconds())
		}
	}
	for i := range h.Why {
		if v.Items[i].Outcome == plan.Hit {
			delete(h.Why, i)
		}
	}
	h.Estimate = e.With(v, each)
	h.Wall = schedule(v, each, o.Cards)
	for n, on := range append(roofline.Sorts(), loading) {
		if took := time.Duration(spent[n] * float64(time.Second)); took > 0 {
			h.Spent = append(h.Spent, Spent{on, took})
		}
	}
	slices.SortStableFunc(h.Spent, func(a, b Spent) int { return cmp.Compare(b.Took, a.Took) })
	h.Assumed = r.assumptions(h.ByBasis[estimate.Computed]+h.ByBasis[estimate.Scaled] > 0)
	return h, nil
}

func median[T time.Duration | float64](all []T) T {
	slices.Sort(all)
	return all[(len(all)-1)/2]
}
