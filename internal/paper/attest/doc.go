// Package attest owns the records of steps that were rebuilt, "attestations/<hex key>/<id>": their format, and how they
// are counted.
//
// It must not know how steps are run or compared, and decides nothing: plans do not depend on attestations.
package attest
