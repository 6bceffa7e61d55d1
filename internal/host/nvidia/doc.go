// Package nvidia describes NVIDIA's cards and drivers, as values: the cards of a machine, and the cards that a process
// may compute on. Package driver asks NVIDIA's own libraries. Neither must know libtorch, nor what computes on a card.
package nvidia
