package pilots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

type Step struct {
	Address string
	At      string // the line that asks
	Asks    capacity.Amount
	Card    bool          // it is on the queue for cards
	Took    time.Duration // the 90 % quantile; 0: unknown
	Surely  bool          // Took is of its own results, or its block's: it may be refused for that
	Limit   time.Duration // after which it fails; 0: none
	Resumes bool          // it continues in another pilot, from a checkpoint or by parts
}

// Of is the step of a plan, as an estimate expects it; spec is its kind.
func Of(s *plan.Step, x estimate.Step, spec *step.Spec) Step {
	out := Step{Address: s.Address, At: s.Pos.String(), Card: s.Queue == string(step.GPU), Took: x.P90,
		Surely: x.Basis == estimate.Itself || x.Basis == estimate.Block, Resumes: spec != nil && (spec.Resumes || spec.Splits())}
	if r := s.Resources; r != nil {
		out.At, out.Limit, out.Asks = r.At, r.Time, capacity.Amount{CPUs: r.CPUs, Memory: r.Memory, GPUs: r.GPUs}
	}
	if spec != nil && spec.Needs != "" { // it gets the card that its device says
		out.Asks.GPUs = 0
	}
	if out.Asks.CPUs == 0 && !out.Card {
		out.Asks.CPUs = 1
	}
	return out
}

// AllowCPU says that workers of the site compute on processors what is for cards, since no pilot has any.
func AllowCPU(site *slurm.Site) bool {
	return !slices.ContainsFunc(site.Pilots, func(p slurm.Pilot) bool { return p.Has.GPUs > 0 })
}

// in is what the step takes in a pilot of the site. A worker computes one step at a time where there are no cards.
func (s Step) in(site *slurm.Site, p *slurm.Pilot) capacity.Amount {
	if s.Card && s.Asks.GPUs == 0 {
		if AllowCPU(site) {
			s.Asks.CPUs = max(s.Asks.CPUs, p.Has.CPUs)
		} else {
			s.Asks.GPUs = 1
		}
	}
	return s.Asks
}

// long is how long a pilot must be for the step, and whether the step takes or may take so long.
func (s Step) long() (d time.Duration, how string) {
	switch {
	case s.Resumes:
		return 0, ""
	case s.Surely && (s.Limit == 0 || s.Took < s.Limit):
		return s.Took, "takes"
	}
	return s.Limit, "may take"
}

// Holds finds the smallest pilot that holds a step: its place, or -1 and why none does, by the pilot that lacks least.
func Holds(site *slurm.Site, s Step) (place int, why string) {
	place = -1
	takes, how := s.long()
	least := 0.
	for i := range site.Pilots {
		p := &site.Pilots[i]
		asks, who := s.in(site, p), fmt.Sprintf("pilot %s (%s)", p.Name, p.At)
		var lacks []string
		if of := p.Has.Lacks(asks, who); of != "" {
			lacks = append(lacks, "asks for "+of)
		}
		if most := p.Time - slurm.Ending; takes > most {
			lacks = append(lacks, fmt.Sprintf("%s %s, and %s has %s for a step", how, words.Seconds(takes), who, words.Seconds(most)))
		}
		switch far := share(asks, p.Has) + float64(takes)/float64(p.Time); {
		case lacks == nil && (place < 0 || smaller(p, &site.Pilots[place])):
			place = i
		case lacks != nil && (why == "" || far < least):
			least, why = far, fmt.Sprintf("%s %s (%s)", s.Address, strings.Join(lacks, "; it "), s.At)
		}
	}
	return place, why
}

func smaller(a, b *slurm.Pilot) bool {
	return cmp.Or(cmp.Compare(a.Has.GPUs, b.Has.GPUs), cmp.Compare(a.Has.CPUs, b.Has.CPUs), cmp.Compare(a.Has.Memory, b.Has.Memory), cmp.Compare(a.Time, b.Time)) < 0
}

// share is the largest share of a pilot's processors, memory or cards that is asked for.
func share(asks, has capacity.Amount) float64 {
	of := func(asks, has float64) float64 { return asks / max(has, 0.01) }
	return max(of(float64(asks.CPUs), float64(has.CPUs)), of(float64(asks.Memory), float64(has.Memory)), of(float64(asks.GPUs), float64(has.GPUs)))
}
