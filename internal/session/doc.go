// Package session owns what a command does before its own work: it reads settings and the pipeline, plans, opens the store and other
// stores, and previews what is there. The packages in its folder are what several commands do with that: journal and belief say what
// earlier runs left and what previews passed over, why, compare and variants explain, drive runs and follows runs (cards, livegraph),
// pilots says which jobs of Slurm steps need, doctor checks a machine, steplog, saved, model and world find what logs, apply, search
// and test need.
//
// It imports worker, activities (only drive does) and workflows, and what is below them. It must not know flags or how anything is
// printed: that is internal/cli's.
//
// Begin with session.go, load.go and preview.go, then drive.
package session
