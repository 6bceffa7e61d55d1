// Package wikipedia finds the page of a revision: it scans MediaWiki's stub-meta-history dumps, or reads a local table, and
// resolves the revision URLs of Natural Questions to page ids (paper, appendix "PageID Resolution").
//
// It owns the dump format, the revision table and the reading of revision URLs. It must not know records, dedup keys, steps,
// stores or Temporal.
package wikipedia
