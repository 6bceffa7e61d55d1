// Package lease records in the store who works on a key: two runs that share only the store never do the same work.
//
// A lease is a small record that its holder renews. Whoever finds a lease waits until it is released or stale: its
// process is gone (known at once on the same machine), or it was not renewed for a minute. Deletions that fail are
// retried while the process lives. A stale lease is not replaced: the next generation is created beside it, which
// exactly one of the waiting processes can do. A lease that is broken, lost or taken too early does no harm: the first
// writer of a result wins, so the worst is work done twice.
//
// It must not know what a key stands for, nor Temporal.
package lease
