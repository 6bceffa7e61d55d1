// Package archive owns the one file in which a pipeline and its results travel: a ZIP with
// the pipeline's files, the store's own layout, what people read and what describes it for
// machines. It writes such files, the same bytes for the same content, and reads those of
// strangers, within limits, as a read-only store and a list of files.
//
// It must not know what a pipeline says, how results are chosen, or whom a person believes.
package archive
