// Package corpus stores the documents of a collection with their serialized text, one JSON line each under zstd, in the
// order of their numbers, and merges such streams. It must not know how texts are serialized or what they are for.
package corpus
