// Package listing owns how a folder of this machine becomes a tree of artifacts: which files come in, under which
// names, with x bits, links and empty folders, and what .gitignore files leave out. Callers hash files and store bytes.
package listing
