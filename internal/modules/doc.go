// Package modules brings the pipelines that a pipeline has as modules: from a folder or
// file beside it, or from a commit of a git repository. A commit is fetched once, by the
// git program, pinned in redsi.lock by its id and the digest of its files, and kept in a
// cache folder; what is pinned and kept needs no network. Nothing of a repository is run:
// its files are written from its archive, so that neither hooks nor filters see them.
//
// It must not know how pipelines are evaluated.
package modules
