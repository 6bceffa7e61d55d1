// Package pack writes an archive of a pipeline and its results, and unpacks an archive that somebody else wrote: which
// files of the project and which results are in it, how it is described and cited, and what is taken from it, from whom,
// into which store.
//
// It must not know flags, or how archives are laid out, which is package archive's.
package pack
