package usage

import "time"

// Spent is what all runs of a pipeline took, as far as the store has their records: the work behind results, each key
// once, and the work of steps that failed or were cancelled.
type Spent struct {
	Runs      int  `json:"runs"`
	Damaged   int  `json:"damaged_runs"` // whose records cannot be read: they count nowhere else
	Results   Sum  `json:"results"`      // with their parts
	Gone      int  `json:"results_gone"` // results that the store no longer has: how long they took is in the records
	Failed    Lost `json:"failed"`
	Cancelled Lost `json:"cancelled"`
}

// Lost is the work of steps that left no result: the last attempt of each, in each run.
type Lost struct {
	Steps int           `json:"steps"`
	Took  time.Duration `json:"-"`
	TookS float64       `json:"took_s"`
}

// Add counts a step that took so many seconds.
func (l *Lost) Add(seconds float64) {
	l.Steps++
	l.Took += time.Duration(seconds * float64(time.Second))
	l.TookS = l.Took.Seconds()
}

// Took returns the time of all work, one step after another.
func (s *Spent) Took() time.Duration { return s.Results.Took + s.Failed.Took + s.Cancelled.Took }
