// Package livegraph is the page of a run's graph: which step reads what of which other
// one, coloured by what became of it, anew every few seconds while the run is at work.
//
// It draws what a Source tells. It must not know Temporal or the store.
package livegraph
