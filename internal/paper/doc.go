// Package paper has in its folder the parts of a paper once its steps have results: tables and figures (render), what is
// expected of them (expect), the page that shows them with their lineage (report), sentences that state numbers (prose),
// conferences' checklists (checklist), when two results count as equal (alike), what others attest (attest), and texts
// from outside in Markdown (markdown).
//
// It imports internal/pipeline, internal/ranking, internal/corpora, internal/host, step, artifacts and internal/system.
// It must not know Temporal, and opens no store.
//
// Begin with render, whose tables all others read.
package paper
