// Package synth generates a corpus in the formats of Natural Questions: full train and dev shards, the simplified train
// file, and the stub-meta-history dump that names the page of each revision. Bytes depend only on Config, not on the
// machine. Its pages are six real articles (ATTRIBUTION.md), each many times under other titles and with other words.
//
// Pages are designed to show what the paper studies (several revisions, renames, titles that two pages share, revisions that
// the dump lacks, renderings that differ under one revision). Truth is computed from the design, never by reading the
// records back.
//
// It owns the plan, the pages and their layout in both formats. It must not know readers, deduplication, serializers, steps,
// stores or Temporal, which its truth checks.
//
// Reading order: config.go, design.go and plan.go (the plan), symbols.go and truth.go (its truth), articles.go and
// snapshot.go (the pages), record.go and stub.go (the formats), generate.go and stream.go (the run).
package synth
