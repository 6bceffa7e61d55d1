// Package ranking has the kinds that rank documents without training, and those that score
// and compare rankings, whoever made them. It must not know how a model was trained.
package ranking
