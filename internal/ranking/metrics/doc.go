// Package metrics scores rankings of documents against the documents that answer each query: Hits@k, MRR@k, Recall@k
// and Invalid@k (paper, "Experimental Setup" and appendix "Decoding Procedures"), and nDCG, AP and others as trec_eval
// has them, per query and on average, of what trec reads.
//
// Values are fractions; a renderer makes percent of them. The package must not know
// models, identifiers, steps or files.
//
// Reading order: metric.go, measures.go, parse.go; scoring.go; agree.go.
package metrics
