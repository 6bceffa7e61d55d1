// Package crate owns ro-crate-metadata.json: what an archive says of itself to other
// programs, as JSON-LD by the profile Provenance Run Crate 0.5. It writes steps as they are
// given, so that a long pipeline takes little memory; what is not known is left out.
//
// It must not know where results come from, or how an archive is packed.
package crate
