// Package report shows the results of a pipeline: one HTML file with every table and figure, the paper's numbers next to
// the rebuilt ones, and where each number comes from.
//
// It owns lineage (cell, artifact, step, key, inputs) and the page. It reads results and small artifacts through a Reader
// and bounds what it shows of them. It must not know how pipelines run, and the page must not need a network.
package report
