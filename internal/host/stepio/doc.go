// Package stepio is the surroundings of a running step, in whichever program it runs: the store's blobs, its
// checkpoints, scratch folders, and a receiver of its progress. Do runs it there.
//
// It must not know Temporal, keys of results or the cache: activities looks results up and publishes them.
package stepio
