// Package crate owns what an archive says of itself: ro-crate-metadata.json for other programs, as
// JSON-LD by the profile Provenance Run Crate 0.5, and CITATION.cff and Zenodo's metadata, with which
// it is cited and deposited. It writes steps as they are given, so that a long pipeline takes little
// memory; what is unknown is left out or asked for, never made up.
//
// It must not know where results come from, or how an archive is packed, and it sends nothing anywhere.
package crate
