// Package drawn draws the inputs of measurements, queries, documents, identifiers and training batches, from a seed, and
// bench/peers/drawn.py draws the same for other programs. Published figures and counts depend on these numbers: they must
// not change. It knows nothing of models; only the bench, trials, tools and tests import it.
package drawn
