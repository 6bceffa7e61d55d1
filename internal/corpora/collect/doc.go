// Package collect makes a collection from anybody's files: documents, queries and judgments as
// JSON lines, BEIR's layout, TREC's elements, tables with tabs or commas, and Parquet. It
// knows formats, which file of a tree is what, splits and what is left out; it must not know
// what a collection is for.
package collect
