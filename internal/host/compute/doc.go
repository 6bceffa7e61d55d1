// Package compute has steps computed by the second program: Pool starts its processes, keeps them while they are useful
// and sends them work; Serve is what such a process does.
//
// They talk over two pipes, in frames (wire.go). A task goes in with its key, its configuration and what it reads;
// progress, log lines and the outcome come out. The process opens the store itself, so no byte of an artifact passes
// through a pipe. A lost process fails only the work that it was sent.
//
// It owns processes and frames. It must not know the cache, Temporal, or what a kind does.
package compute
