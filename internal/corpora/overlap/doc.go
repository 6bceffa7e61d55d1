// Package overlap finds what the splits of a collection share: queries of one split that
// stand in another, documents that are there twice, and queries that stand word for word in
// documents.
//
// It owns the normal form in which texts are compared, the sketches by which near duplicates
// are found (MinHash, in bands) and the comparison of those that sketches propose, which is
// exact. It must not know files, steps or stores; callers bring queries and documents.
package overlap
