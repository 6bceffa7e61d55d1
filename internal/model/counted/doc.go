// Package counted counts what operations of the paper's models ask of a card, with the CPU
// standing in for one (tensor.Emulate), for roofline's counts.json and for the goldens of tests. It
// knows the model packages; no program imports it.
package counted
