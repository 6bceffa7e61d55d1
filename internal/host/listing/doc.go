// Package listing owns how a folder of this machine becomes a tree of artifacts: which files come in, under which names,
// with x bits, links and empty folders, and what the rules of .gitignore files leave out. Its callers hash files,
// remember digests and store bytes.
package listing
