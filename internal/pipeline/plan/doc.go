// Package plan turns a pipeline into a plan: the selected steps in an order in
// which each follows what it reads, and, given a way to look results up, what
// of it is done (HIT), must run (RUN), or cannot be told yet because its key
// depends on a step that must run first (MAYBE).
//
// A Plan is a value that travels to workers and is stored by its digest (stored.go). This
// package does no I/O but by what it is given, and must not know stores or Temporal.
package plan
