// Package rehearsal serves what scale sample of the paper's pipeline downloads, on this machine and
// without the internet: files of Natural Questions, models of the hub, and the wiki's API. Its
// records are real ones, repeated under other page ids, revisions, titles, questions and example
// ids, with words of each page exchanged for others of the same length, so that offsets hold. Its
// models have the shapes and files of real ones and random weights.
//
// It owns what is served, and counts who asked for what. It must not know steps, stores or the
// pipeline, and must not be used outside of tests and tools.
package rehearsal
