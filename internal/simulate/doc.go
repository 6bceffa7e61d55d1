// Package simulate runs whole schedules of the engine in virtual time: the workflows and activities as they are, over a Temporal
// server, a store and workers in the test's hands. It has only tests; nothing that redsi links.
package simulate
