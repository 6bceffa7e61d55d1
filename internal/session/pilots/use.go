// Package pilots owns which pilots of a site steps need: the sort that holds a step, and how many jobs of each to
// submit. It is functions of what it is given; it must not call Slurm, or know how a run is followed.
package pilots

import (
	"fmt"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
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

// UseOf is what a preview uses each sort of pilots for, as many at a time as its widest level needs, and why steps are refused.
func UseOf(site *slurm.Site, v *plan.Preview, e *estimate.Estimate, kinds *step.Registry) (uses []Use, refused map[int]string) {
	uses, refused = lists.Map(site.Pilots, func(p slurm.Pilot) Use { return Use{Pilot: p.Name} }), map[int]string{}
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
	return uses, refused
}

type Sum struct {
	Pilot   string     `json:"pilot"`
	Running int        `json:"running"`
	Pending int        `json:"pending"`
	Ends    *time.Time `json:"ends,omitempty"`   // at the latest, of the first that does
	Reason  string     `json:"reason,omitempty"` // why the first pends, in Slurm's word
	Jobs    string     `json:"jobs"`             // as programs of Slurm take them
}

// SumOf counts jobs that have not ended, by names, which the jobs of a site's pilots have. It leaves out sorts without a job.
func SumOf(site *slurm.Site, names []string, jobs []slurm.Queued) (all []Sum) {
	for i, name := range names {
		s := Sum{Pilot: site.Pilots[i].Name}
		there := lists.Filter(jobs, func(q slurm.Queued) bool { return q.Name == name && q.State != slurm.Ended })
		for _, q := range there {
			if q.State == slurm.Running {
				s.Running++
				if !q.Ends.IsZero() && (s.Ends == nil || q.Ends.Before(*s.Ends)) {
					s.Ends = &q.Ends
				}
				continue
			}
			s.Pending++
			if s.Reason == "" && q.Reason != "None" {
				s.Reason = q.Reason
			}
		}
		if s.Jobs = slurm.IDs(lists.Map(there, func(q slurm.Queued) string { return q.ID })); len(there) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// String is such as "cpu 3 running (ends 15:10), 1 pending (Priority)  4711_[1-4]".
func (s Sum) String() string {
	var said []string
	add := func(n int, is, more string) {
		if n > 0 {
			said = append(said, strings.TrimSuffix(fmt.Sprintf("%d %s (%s)", n, is, more), " ()"))
		}
	}
	ends := ""
	if s.Ends != nil {
		ends = "ends " + s.Ends.Local().Format("15:04")
	}
	add(s.Running, "running", ends)
	add(s.Pending, "pending", s.Reason)
	return s.Pilot + " " + strings.Join(said, ", ") + "  " + s.Jobs
}
