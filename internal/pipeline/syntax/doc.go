// Package syntax reads the files of a pipeline: which there are, their bodies, and what is wrong with
// them, with the line of the source that it is about.
//
// It owns names of files, places, the list of diagnostics and how it is written, and hints ("did you
// mean"). It knows HCL's form alone: no function, no value, no block. Begin at ParseFile and Collector.
package syntax
