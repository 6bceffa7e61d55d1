// Package inout reads the inputs of kinds and writes their outputs: files, trees, JSON
// and its fields. It is what rooms of kinds share; it must not know any kind.
//
// Values are read of JSON, its lines, YAML, CSV, Parquet and single numbers alike; "." is the whole document.
// A field of JSON is named by a path of names, and numbers of elements from zero, with
// dots between them, a name that has dots in single quotes; in a tree FILE: is before it. What a path does not find is missing
// in one of five ways, the same for all readers:
//
//   - For an example that was asked for and is not in the data (Absent), and for every path
//     into it, cells and panels show "not in these files".
//   - null, on the way or at the end, is a value that does not apply: nothing is shown.
//   - An element beyond the end of a list is the same: there are fewer.
//   - NaN and infinite numbers (NotFinite) are missing too: nothing is shown, which is
//     counted, and a mean with one is missing.
//   - A name that an object does not have, or a path that continues below a number or a
//     text, is a mistake: an error, before anything runs where the output declares its
//     Fields. Only points of a curve may lack a field, such as an evaluation's; it is a
//     mistake if all points lack it.
package inout
