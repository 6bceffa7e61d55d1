// Package cores divides the cores of a process among its running steps. A step that computes gets the cores that no
// other step uses, and never less than half of all; several computing steps share these. The operating system gives
// other steps what they need. The package knows only the number of steps, and sets threads by a function.
package cores
