// Package impact says what a change of a pipeline costs: of two plans, before and after,
// which steps lose their results, why, by which attribute at which line, and what running
// them is expected to take.
//
// It must not know where plans come from, and reads no store.
package impact
