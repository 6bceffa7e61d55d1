package pilots

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/system/lists"
)

const (
	mostWorth   = 10 * time.Minute
	mostPending = 4                // of a sort: more would not begin sooner
	quick       = time.Minute      // a pilot that ends before it, without a step, does not work
	mostQuick   = 3                // such pilots of a sort, one after the other
	respect     = 10 * time.Minute // after somebody has cancelled pilots
)

// Pilot is a job that Slurm has, or has had lately.
type Pilot struct {
	slurm.Queued
	Sort   int  // its place in the site
	Worked bool // a step began in it
	Works  bool // a step is seen in it
}

func (x Pilot) there() bool { return x.State != slurm.Ended }

// Look has the steps that are open and the pilots. Steps that wait for others, or for another run's lease, are in neither list.
type Look struct {
	Now          time.Time
	Ready, Begun []Step
	Pilots       []Pilot
}

// State is what one look leaves to the next; zero before the first.
type State struct {
	seen  map[string]bool // ids of pilots that had ended
	quick map[int]int     // by sort: pilots that did not work, one after the other
	held  time.Time
	idle  bool // a pilot that should have steps had none
}

// Order is an array of jobs to submit; none if N is 0.
type Order struct {
	Sort, N int
	Steps   int    // that are ready for such pilots
	Why     string // why none are submitted that are needed
	Doubt   bool   // a pilot that runs has no step at two looks, though some are ready for it: it may have left
}

// Next says what to submit for the ready and begun steps. The next look must show what was submitted. No pilot is ever ended.
func Next(site *slurm.Site, st State, look Look) (State, Order) {
	st = st.ended(site, look)
	ready, begun := bySort(site, look.Ready), bySort(site, look.Begun)
	all := lists.Filter(look.Pilots, Pilot.there)
	var best Order
	idle := false
	for i := range site.Pilots {
		if len(ready[i]) == 0 {
			continue
		}
		p := &site.Pilots[i]
		shortest := slices.Min(lists.Map(ready[i], func(s Step) time.Duration { d, _ := s.long(); return d }))
		there, pending, leaving := 0, 0, 0
		for _, x := range all {
			switch {
			case x.Sort != i:
				continue
			case x.State == slurm.Pending:
				pending++
			case !x.Ends.IsZero() && x.Ends.Sub(look.Now) < slurm.Ending+shortest: // it begins none of these any more
				leaving++
			}
			there++
			idle = idle || x.State == slurm.Running && !x.Works
		}
		n := needs(append(slices.Clip(ready[i]), begun[i]...), p, 2*p.Max) - room(begun[i], p.Has, leaving) - (there - leaving)
		if n = min(n, p.Max-there, site.Max-len(all), mostPending-pending); n > best.N {
			best = Order{Sort: i, N: n, Steps: len(ready[i])}
		}
	}
	switch {
	case best.N == 0:
	case look.Now.Before(st.held):
		best.N, best.Why = 0, "somebody has cancelled pilots: none are submitted before "+st.held.Format(time.TimeOnly)
	case st.quick[best.Sort] >= mostQuick:
		best.N, best.Why = 0, fmt.Sprintf("%d pilots %s in succession ended within a minute, without a step: none are submitted any more", mostQuick, site.Pilots[best.Sort].Name)
	}
	best.Doubt, st.idle = idle && st.idle, idle
	return st, best
}

// ended takes account of pilots that have ended since the last look. What had ended before the first says nothing.
func (st State) ended(site *slurm.Site, look Look) State {
	before := st.seen
	st.seen, st.quick = map[string]bool{}, maps.Clone(st.quick)
	if before == nil {
		st.quick = map[int]int{}
	}
	for _, x := range slices.SortedStableFunc(slices.Values(look.Pilots), func(a, b Pilot) int { return a.Ends.Compare(b.Ends) }) {
		if x.there() || x.Said == "COMPLETING" { // which does not say yet how
			continue
		}
		st.seen[x.ID] = true
		switch {
		case before == nil || before[x.ID]:
		case x.Said == "CANCELLED":
			st.held = look.Now.Add(respect)
		case x.Said == "PREEMPTED" || x.Said == "NODE_FAIL" || x.Starts.IsZero(): // which is not its doing
		case x.Worked || x.Ends.Sub(x.Starts) >= min(quick, site.Pilots[x.Sort].Idle):
			st.quick[x.Sort] = 0
		default:
			st.quick[x.Sort]++
		}
	}
	return st
}

// bySort groups steps by the sort of pilots that holds them, with what they take there. It drops steps that no pilot holds.
func bySort(site *slurm.Site, steps []Step) map[int][]Step {
	by := map[int][]Step{}
	for _, s := range steps {
		if i, _ := Holds(site, s); i >= 0 {
			s.Asks = s.in(site, &site.Pilots[i])
			by[i] = append(by[i], s)
		}
	}
	return by
}

// worth is the work for which a pilot is submitted: twice its idle time. A step of unknown work counts as that.
func worth(p *slurm.Pilot) time.Duration { return min(2*p.Idle, mostWorth) }

// needs is how many pilots of a sort, most at most, steps need that may run at the same time.
func needs(steps []Step, p *slurm.Pilot, most int) int {
	work := 0.
	for _, s := range steps {
		work += cmp.Or(s.Took, worth(p)).Seconds() * share(s.Asks, p.Has)
	}
	return min(room(steps, p.Has, most), max(1, int(math.Ceil(work/worth(p).Seconds()))))
}

// room is how many pilots, most at most, have room for steps side by side: the largest first, each in the first that fits.
func room(steps []Step, has capacity.Amount, most int) int {
	var left []capacity.Amount
	for _, s := range slices.SortedFunc(slices.Values(steps), func(a, b Step) int { return cmp.Compare(share(b.Asks, has), share(a.Asks, has)) }) {
		i := slices.IndexFunc(left, func(free capacity.Amount) bool {
			return s.Asks.CPUs <= free.CPUs && s.Asks.Memory <= free.Memory && s.Asks.GPUs <= free.GPUs
		})
		if i < 0 && len(left) == most {
			break
		}
		if i < 0 {
			i, left = len(left), append(left, has)
		}
		left[i].CPUs, left[i].Memory, left[i].GPUs = left[i].CPUs-s.Asks.CPUs, left[i].Memory-s.Asks.Memory, left[i].GPUs-s.Asks.GPUs
	}
	return len(left)
}
