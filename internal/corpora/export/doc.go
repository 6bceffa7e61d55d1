// Package export writes a retrieval collection in common formats: JSON lines, Parquet, TREC topics and qrels, the BEIR
// layout, and a dataset card about its content, provenance and licence.
//
// It owns these file formats and the checks that all of them need: unique identifiers without white space, and existing
// targets. Files go to a Sink: it must not know directories, stores, steps or Temporal, nor how documents were grouped or
// serialized, beyond the stored form of a grouping (FromGrouping).
package export
