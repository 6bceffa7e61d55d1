// Package columns reads Parquet files by columns, row by row and some pages at a time.
//
// It owns what damaged files do to the Parquet library, and how lists are cut into rows. It must not know what
// a column means.
package columns
