// Package usage measures what steps take of their process and machine while they run:
// processor time, memory, cards, energy. It knows steps only by when they begin
// and end, and not the store. What a counter does not tell is left out, never guessed.
package usage
