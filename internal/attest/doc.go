// Package attest owns what is recorded of a step that somebody ran again: the records
// "attestations/<hex key>/<id>", their format, and how they are counted.
//
// It must not know how steps are run or compared, and decides nothing: no plan goes by an
// attestation.
package attest
