// Package activities is the half of a run that touches the world: loading a plan,
// looking results up, doing steps, one or several in a row, waiting for others that do, and
// having the run's record written (internal/runs). execute.go is the only place with cache logic. It
// runs the kinds that its registry has and must not know any of them, nor the forms of records.
//
// Reading order, that of a run: activities.go; load.go, grow.go, walk.go, do.go, execute.go, run.go; rest.go, release.go. What
// these share is in admit.go, steplog.go, stored.go and failure.go. rebuild.go does steps without Temporal.
//
// Nothing here is promised to other modules: it may change at any time.
package activities
