package step

import "time"

// Resources is what a step asks of the worker that runs it, and how often it is tried.
// None of it is in a key.
type Resources struct {
	CPUs   int           `json:"cpus,omitempty"`   // processors; 0: nothing was said
	Memory int64         `json:"memory,omitempty"` // bytes; 0: nothing was said
	GPUs   int           `json:"gpus,omitempty"`   // cards, all at once
	Time   time.Duration `json:"time,omitempty"`   // the longest that it may take, in nanoseconds; 0: no limit
	Limits []string      `json:"limits,omitempty"` // names of which a run has only so many at a time

	Tries int     `json:"tries,omitempty"` // further ones after its program has failed
	Grow  float64 `json:"grow,omitempty"`  // times as much memory at each of them; 0: as much

	GrowTime float64 `json:"grow_time,omitempty"` // times as long at each of them; 0: as long

	At string `json:"at,omitempty"` // file and line to change
}

// For is what the step asks for after so many tries that failed; r may be nil.
func (r *Resources) For(failed int) Resources {
	if r == nil {
		return Resources{}
	}
	of := *r
	for range failed {
		if grown := float64(of.Memory) * r.Grow; r.Grow > 1 && grown < 1<<62 {
			of.Memory = int64(grown)
		}
		if grown := float64(of.Time) * r.GrowTime; r.GrowTime > 1 && grown < 1<<62 {
			of.Time = time.Duration(grown)
		}
	}
	return of
}

// Granted is what a step that asks for it is given, but for cards.
func (r *Resources) Granted() Granted {
	of := r.For(0)
	return Granted{CPUs: of.CPUs, Memory: of.Memory}
}

// Granted is what a step was given of the machine that it runs on, for the programs that it
// starts: nothing is said where it asked for nothing.
type Granted struct {
	CPUs   int
	Memory int64  // bytes
	Cards  string // as CUDA_VISIBLE_DEVICES names them
}
