// Package rehearsal serves what scale sample of the paper's pipeline downloads, on this machine and
// without the internet: files of Natural Questions, models of the hub, and the wiki's API. Its
// records are those of package synth, of whole articles. Its models have the shapes and files of
// real ones and random weights.
//
// It owns what is served, and counts who asked for what. It must not know steps, stores or the
// pipeline, and must not be used outside of tests and tools.
package rehearsal
