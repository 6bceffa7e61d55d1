// Package checklist answers conferences' checklists from a pipeline's results, runs and files, each answer with its
// origin. Questions without an answer are marked as blank, for people to answer: nothing is guessed. It must not know the
// store, nor print.
package checklist
