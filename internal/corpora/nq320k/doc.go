// Package nq320k is the layout in which NQ320K was published: a folder data/STYLE/KEY with the documents, the queries of
// either split and metadata. It writes and reads that layout, and compares a collection read from it with ours, record by
// record.
//
// It owns the names of styles and keys in that layout, the bytes of its lines, and the checks of a folder. It must not know
// steps, stores or where files come from.
package nq320k
