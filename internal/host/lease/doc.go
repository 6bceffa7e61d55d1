// Package lease says who is working on a key, in the store itself, so that two runs
// with nothing in common but the store never do the same work.
//
// A lease is a small record that its holder renews. Whoever finds one waits until it
// is released or stale: its process is gone (known at once on the same machine), or it was not renewed
// for a minute. What could not be deleted is tried again while the process lives. A stale lease is not replaced: the next generation is
// created beside it, which exactly one of those who wait can do. Nothing false comes
// of a lease that is broken, lost or taken too early: results are published first
// writer wins, so the worst is work done twice.
//
// It must not know what a key stands for, nor Temporal.
package lease
