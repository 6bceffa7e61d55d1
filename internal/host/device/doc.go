// Package device says where steps compute: which of the machine's cards each one gets, which
// cards libtorch can compute on, and which facts of a card are kept beside a result. What
// asks libtorch is in package here, which only the second program has. It must not know
// kinds, queues or the command line.
package device
