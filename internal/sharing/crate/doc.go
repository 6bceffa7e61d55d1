// Package crate owns what an archive says of itself: ro-crate-metadata.json for other programs, as JSON-LD by the profile
// Provenance Run Crate 0.5, and CITATION.cff and Zenodo's metadata, with which it is cited and deposited. It writes each
// step on its own, so that a long pipeline takes little memory, and leaves out or asks for what is unknown.
//
// It must not know where results come from, or how an archive is packed, and it sends nothing anywhere.
package crate
