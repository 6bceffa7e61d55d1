// Package columns reads Parquet files by columns, row by row and some pages at a time.
//
// It owns the protection from damaged files, and the cut of lists into rows. It must not know what a column means.
package columns
