// Package roofline says how long a card computes at a step of a model, and how much memory
// that takes, without a card: from the sizes of the model and of the batch, from figures of
// the card's data sheet, and from how many operations a step was counted to have. It owns
// these figures, the counts (counts.json) and the formulas. It must not know libtorch, nor
// steps and plans: internal/pipeline/hours asks it for those, internal/model/counted counts.
//
// A computed time is not a measured one. It is what a card takes that reaches the Efficiency
// that Assumptions names, and it is marked as computed wherever it is shown.
package roofline
