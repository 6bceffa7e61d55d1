// Package deposit owns what is said of an archive where it is deposited and cited: a
// CITATION.cff and Zenodo's metadata. What is not known is left out or asked for, never
// made up.
//
// It must not know what an archive has, and it sends nothing anywhere.
package deposit
