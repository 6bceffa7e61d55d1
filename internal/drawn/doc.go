// Package drawn draws what is measured, queries, documents, identifiers and training batches,
// from a seed, and bench/peers/drawn.py draws the same for those that redsi is measured beside.
// Figures and counts are of these numbers: they do not change. It knows nothing of models, and
// no program imports it.
package drawn
