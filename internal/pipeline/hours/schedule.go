package hours

import (
	"container/heap"
	"time"

	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// schedule is when the last step ends if steps on cards share so many, those that the
// longest chain of others waits for first, and all other steps begin when they can.
func schedule(v *plan.Preview, each []estimate.Step, cards int) time.Duration {
	steps := v.Plan.Steps
	tail := make([]time.Duration, len(steps)) // from the step's begin to the end of the longest chain
	users := make([][]int, len(steps))
	missing := make([]int, len(steps))
	for i := range steps {
		if v.Items[i].Outcome == plan.Hit {
			continue
		}
		for _, d := range steps[i].Deps {
			if v.Items[d].Outcome != plan.Hit {
				users[d] = append(users[d], i)
				missing[i]++
			}
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		for _, u := range users[i] {
			tail[i] = max(tail[i], tail[u])
		}
		tail[i] += each[i].P50
	}
	waiting := &byKey{longest: true} // for a card, by tail
	running := &byKey{}              // by end
	free, now := cards, time.Duration(0)
	ready := func(i int) {
		if steps[i].Queue == "gpu" {
			heap.Push(waiting, keyed{tail[i], i})
		} else {
			heap.Push(running, keyed{now + each[i].P50, i})
		}
	}
	for i := range steps {
		if v.Items[i].Outcome != plan.Hit && missing[i] == 0 {
			ready(i)
		}
	}
	for {
		for free > 0 && waiting.Len() > 0 {
			free--
			i := heap.Pop(waiting).(keyed).step
			heap.Push(running, keyed{now + each[i].P50, i})
		}
		if running.Len() == 0 {
			return now
		}
		done := heap.Pop(running).(keyed)
		now = done.at
		if steps[done.step].Queue == "gpu" {
			free++
		}
		for _, u := range users[done.step] {
			if missing[u]--; missing[u] == 0 {
				ready(u)
			}
		}
	}
}

type keyed struct {
	at   time.Duration
	step int
}

// byKey is a heap of steps, the least first, or the greatest; of equal ones the first.
type byKey struct {
	all     []keyed
	longest bool
}

func (h *byKey) Len() int { return len(h.all) }
func (h *byKey) Less(i, j int) bool {
	a, b := h.all[i], h.all[j]
	if a.at == b.at {
		return a.step < b.step
	}
	return (a.at < b.at) != h.longest
}
func (h *byKey) Swap(i, j int) { h.all[i], h.all[j] = h.all[j], h.all[i] }
func (h *byKey) Push(x any)    { h.all = append(h.all, x.(keyed)) }
func (h *byKey) Pop() any {
	last := h.all[len(h.all)-1]
	h.all = h.all[:len(h.all)-1]
	return last
}
