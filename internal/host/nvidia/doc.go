// Package nvidia is what is known of NVIDIA's cards and drivers, as values: those of a
// machine, and those that a process may compute on. Package driver asks NVIDIA's own
// libraries. Neither must know libtorch, nor what computes on a card.
package nvidia
