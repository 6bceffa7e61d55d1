// Package livegraph is the page of a run's graph: which step reads which other one, coloured
// by the state of each step, refreshed every few seconds while the run is open.
//
// It draws what a Source reports. It must not know Temporal or the store.
package livegraph
