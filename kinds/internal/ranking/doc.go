// Package ranking has kinds that rank documents without training, and kinds that score and compare any rankings. It
// must not know how a model was trained.
package ranking
