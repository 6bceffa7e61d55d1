// Package sharing has in its folder how results leave a project and come into
// another: archives (archive), RO-Crates (crate), deposits with a DOI (deposit),
// repositories of the Hugging Face hub (hub).
//
// It imports artifacts and internal/system. What is shared, and from which
// pipeline, is told by its callers.
//
// Begin with archive, whose format the others describe.
package sharing
