// Package counted counts what operations of the paper's models ask of a card, with the CPU
// standing in for one (tensor.Emulate): roofline's counts.json, which its test compares with, and writes with -update.
//
// It has tests alone; no program imports it.
package counted
