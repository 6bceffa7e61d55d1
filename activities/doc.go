// Package activities is the half of a run that touches the world: loading a
// plan, looking results up, running step kinds, and the step kinds themselves.
//
// cached.go is the only place with cache logic. Each step kind is one file with
// its configuration, its definition and a Run of a few lines that calls a domain
// package; kinds.go lists them. To add a kind: write its file, add its line,
// run `make docs`.
package activities
