// Package listing owns what a folder of this machine is as a tree of artifacts: which of its
// files come in, under which names, with x bits, links and empty folders, and what the rules
// of .gitignore files leave out. Who hashes the files, remembers digests or stores bytes is
// its callers' business.
package listing
