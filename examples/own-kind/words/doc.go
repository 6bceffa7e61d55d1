// Package words has step kinds that redsi does not have: it counts words, and declares what
// package compute finds.
package words
