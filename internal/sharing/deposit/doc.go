// Package deposit owns the metadata with which an archive is deposited and cited: a
// CITATION.cff and Zenodo's metadata. What is unknown is left out or asked for, never made
// up.
//
// It must not know what an archive contains, and it sends nothing anywhere.
package deposit
