// Package fusion joins rankings of several systems for the same queries into one: by ranks
// (reciprocal rank fusion) or by weighted sums of normalized scores.
//
// It must not know steps and stores, nor where rankings come from.
package fusion
