// Package activities is the half of a run that touches the world: loading a plan,
// looking results up, running steps in batches or alone, waiting for others that do, and
// having the run's record written. cached.go is the only place with cache logic. It runs the
// kinds that its registry has and must not know any of them, nor the forms of what a store keeps
// of runs: these are internal/runs'.
//
// Nothing here is promised to other modules: it may change at any time.
package activities
