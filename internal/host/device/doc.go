// Package device says where steps compute: which of the machine's cards each step gets, on which cards libtorch can
// compute, and which facts of a card are kept beside a result. Only the second program, in package here, asks libtorch
// itself. It must not know kinds, queues or the command line.
package device
