package artifacts

import "sync/atomic"

// Tell is told how far upkeep is, from several goroutines: done of total, 0 if nobody knows, in bytes or
// in what unit names. nil tells nobody.
type Tell func(what string, done, total int64, unit string)

// of tells of the beginning of some work, and returns what counts it.
func (t Tell) of(what string, total int64, unit string) (add func(n int64)) {
	if t == nil {
		return func(int64) {}
	}
	var done atomic.Int64
	t(what, 0, total, unit)
	return func(n int64) { t(what, done.Add(n), total, unit) }
}
