// Package artifacts owns bytes and results: what steps left, under which digests, and whether all of it
// is still there.
//
// The nouns:
//
//   - Digest: SHA-256 of content. A value; comparable; a map key.
//   - Blob: immutable bytes under their digest (Blobs).
//   - Artifact: one output of a step, a blob or a tree of named blobs.
//   - Record: a small named JSON document (Records): results, runs, pins, checkpoints.
//   - Result: the record of a finished step under its key. Blobs are written first, the record last; a
//     result counts only while every blob exists.
//   - Store: a Blobs and a Records side by side, On a Driver, which moves bytes. The drivers are in
//     internal/stores: dir, s3, mem and web. One Store is one place, and only a Store is written to,
//     collected and verified.
//   - Reader: a place that is only read.
//   - Other: somebody else's Reader, in any of these places or on a static host. It is read by name.
//   - Resolver: several places in an order, own first, others behind it (With), each a tier. Its Policy
//     says which results count, by whose signatures.
//
// Every read of a blob is verified: a reader that reaches io.EOF has delivered exactly the bytes that the
// digest names, and any other bytes end in an IntegrityError. See docs/formats.md for the layout on disk.
//
// It must not know steps, kinds, pipelines, Temporal or models. Of this module it imports only packages
// about readers, files and signatures.
//
// Promised from version 0.1.0 on: the formats in docs/formats.md, and the types that package step names
// (Digest, File, Artifact). Everything else is for redsi's own packages and may change.
package artifacts
