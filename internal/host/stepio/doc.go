// Package stepio is what a running step meets, in whichever program it runs: the store's
// blobs, its checkpoints, scratch folders, and somebody who takes its progress. Do runs it
// there.
//
// It must not know Temporal, keys of results or the cache: what is looked up and published
// is activities' business.
package stepio
