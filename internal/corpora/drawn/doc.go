// Package drawn draws what is measured, queries, documents, identifiers and training batches,
// from a seed, and bench/peers/drawn.py draws the same for those that redsi is measured beside.
// Figures and counts are of these numbers: they do not change. It knows nothing of models;
// only the bench, trials, tools and tests import it.
package drawn
