// Package rehearsal serves the downloads of the paper's pipeline at scale sample, on this machine and without the internet:
// files of Natural Questions, models of the hub, and the wiki's API. Its records come from package synth, with whole
// articles. Its models have the shapes and files of real models, and random weights.
//
// It owns the served files, and counts requests. It must not know steps, stores or the pipeline, and must not be used
// outside of tests and tools.
package rehearsal
