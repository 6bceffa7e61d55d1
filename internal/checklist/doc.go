// Package checklist answers conferences' checklists from what a pipeline's results, runs and
// its own file say, each answer with where it comes from. What nothing says is marked as
// blank, for people to answer: nothing is guessed. It must not know the store, nor print.
package checklist
