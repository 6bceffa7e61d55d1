// Package activities is the half of a run that touches the world: it loads a plan, looks results up, does steps, one
// or several in a row, waits for other runs that do them, and has the run's record written (internal/runs). Only
// execute.go has cache logic. The package runs the kinds that its registry has and must not know any of them, nor the
// forms of records.
//
// Reading order, as of a run: activities.go; load.go, grow.go, walk.go, do.go, execute.go, run.go; rest.go,
// release.go. They share admit.go, steplog.go, stored.go and failure.go. rebuild.go does steps without Temporal.
//
// Nothing here is promised to other modules: it may change at any time.
package activities
