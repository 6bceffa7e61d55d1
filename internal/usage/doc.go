// Package usage measures what steps take of their process and machine while they run:
// processor time, memory, cards, energy. It must not know steps but by when they begin
// and end, nor the store. What a counter does not tell is left out, never guessed.
package usage
