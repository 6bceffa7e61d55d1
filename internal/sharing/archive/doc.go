// Package archive owns the single file that carries a pipeline and its results: a ZIP with
// the pipeline's files, the store's layout, files for people, and a description for machines.
// It writes such files, the same bytes for the same content, and reads untrusted ones, within
// limits, as a read-only store and a list of files.
//
// It must not know what a pipeline says, how results are chosen, or which keys are trusted.
package archive
