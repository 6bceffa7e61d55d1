// Package overlap finds what the splits of a collection share: queries of one split that recur in another, duplicate
// documents, and queries that stand word for word in documents.
//
// It owns the normal form in which texts are compared, the sketches that propose near duplicates (MinHash, in bands), and
// their exact comparison. It must not know files, steps or stores; callers bring queries and documents.
package overlap
