// Package collect builds a collection from anybody's files: documents, queries and judgments as JSON lines, BEIR's layout,
// TREC's elements, tables with tabs or commas, and Parquet. It owns formats, the recognition of files in a tree, splits, and
// what is left out; it must not know what a collection is for.
package collect
