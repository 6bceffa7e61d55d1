// Package nq reads Natural Questions records, in the full and the simplified .jsonl.gz format, and stores the fields that
// document retrieval needs as compact zstd records that every later step reads (docs/formats.md).
//
// It owns the two NQ formats, the compact format and the checks between them.
// It must not know pages, keys, identifiers, steps, stores or Temporal.
package nq
