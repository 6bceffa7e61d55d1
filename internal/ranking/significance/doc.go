// Package significance says whether systems that were measured on the same queries differ
// by more than chance: paired tests, corrections for many of them, effect sizes. Random
// numbers come from a seed, so that results are the same on every machine.
//
// It must not know what is measured: it sees lists of numbers.
//
// Reading order: paired.go, resample.go, wilcoxon.go; correct.go, tukey.go, srange.go;
// compare.go. ratio.go draws clusters, not queries.
package significance
