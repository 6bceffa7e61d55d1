package pilots

import (
	"time"

	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// Use is what a plan uses a sort of pilots for, MAYBE steps included.
type Use struct {
	Pilot   string  `json:"pilot"`
	Steps   int     `json:"steps"`
	Unknown int     `json:"unknown"`    // of them, without history: in no sum of hours
	Hours   float64 `json:"hours"`      // of steps, one after another
	Most    int     `json:"pilots"`     // at a time
	Cores   float64 `json:"core_hours"` // of full pilots
	Cards   float64 `json:"card_hours,omitempty"`

	Start   *time.Time `json:"first_start,omitempty"` // as Slurm sees it now
	Refused string     `json:"refused,omitempty"`     // why Slurm would not take such a job
}

// UseOf is what a preview uses each sort of pilots for, with as many at a time as its widest level needs, and why steps are
// refused.
func UseOf(site *slurm.Site, v *plan.Preview, e *estimate.Estimate, kinds *step.Registry) (uses []Use, refused map[int]string) {
	uses, refused = make([]Use, len(site.Pilots)), map[int]string{}
	type at struct{ sort, level int }
	side, levels := map[at][]Step{}, make([]int, len(v.Items))
	for i, s := range v.Todo() {
		cost := e.At(i)
		for _, d := range s.Deps {
			if v.Items[d].Outcome != plan.Hit {
				levels[i] = max(levels[i], levels[d]+1)
			}
		}
		x := Of(s, cost, kinds.Lookup(s.Task.Kind))
		sort, why := Holds(site, x)
		if sort < 0 {
			refused[i] = why
			continue
		}
		u, p, hours := &uses[sort], &site.Pilots[sort], cost.P50.Hours()
		x.Asks = x.in(site, p)
		full := hours * share(x.Asks, p.Has)
		u.Steps, u.Unknown, u.Hours = u.Steps+1, u.Unknown+cost.Cost(s.Queue).Unknown, u.Hours+hours
		u.Cores, u.Cards = u.Cores+full*float64(p.Has.CPUs), u.Cards+full*float64(p.Has.GPUs)
		side[at{sort, levels[i]}] = append(side[at{sort, levels[i]}], x)
	}
	for k, steps := range side {
		p := &site.Pilots[k.sort]
		uses[k.sort].Most = max(uses[k.sort].Most, needs(steps, p, min(p.Max, site.Max)))
	}
	for i := range uses {
		uses[i].Pilot = site.Pilots[i].Name
	}
	return uses, refused
}
