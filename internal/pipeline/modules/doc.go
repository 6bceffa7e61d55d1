// Package modules fetches the modules of a pipeline: from a folder or file next to it, or from
// a commit of a git repository. A commit is fetched once, by the git program, pinned in
// redsi.lock by its id and the digest of its files, and kept in a cache folder; then it needs
// no network. Nothing in a repository is run: its files are written from its archive, so that
// neither hooks nor filters see them.
//
// It must not know how pipelines are evaluated.
package modules
