// Package usage measures what steps take of their process and machine while they run: processor time, memory, cards,
// energy. It knows only when steps begin and end, and not the store. What no counter tells is left out, never guessed.
package usage
