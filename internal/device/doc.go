// Package device says where a worker computes: with how many threads, on which of the
// machine's cards each step, what libtorch's errors mean for a card, and which facts of a
// card are kept beside a result. It must not know kinds, queues or the command line.
// Without libtorch nothing computes, and there is nothing to set.
package device
