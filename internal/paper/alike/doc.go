// Package alike compares two results of one key by the rules that kinds declare for their outputs (step.Alike): the same
// bytes, within, or different, and where they differ most.
//
// It owns the three verdicts and how each rule reads its bytes. It must not know which kind left them, who asks, or how a
// model is evaluated: the caller of Compare gives that.
//
// Both sides are read side by side in streams, except single JSON documents, runs, tables and figures, which are held in
// memory.
package alike
