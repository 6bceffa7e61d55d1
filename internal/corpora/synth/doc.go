// Package synth writes a made-up corpus in the formats of Natural Questions: full
// train and dev shards, the simplified train file, and the stub-meta-history dump
// that names the page of each revision. Bytes depend on Config alone, not on the
// machine. Its pages are six real articles (ATTRIBUTION.md), each many times under other
// titles and with other words.
//
// Pages are designed to show what the paper studies (several revisions, renames,
// titles that two pages share, revisions that the dump lacks, renderings that
// differ under one revision), so that Truth follows from the
// design: counts are made from what a page was planned to be, never by reading
// the records back.
//
// It owns the plan, the pages and their layout in both formats. It must not know
// readers, deduplication, serializers, steps, stores or Temporal: those are what
// its truth checks.
//
// Reading order: config.go, design.go and plan.go (what exists), symbols.go and
// truth.go (what follows from it), articles.go and snapshot.go (how a page looks),
// record.go and stub.go (the formats), generate.go and stream.go (the run).
package synth
