// Package lockfile keeps what is known about a pipeline's sources: redsi.lock, the checksums
// that first use pinned, next to the pipeline and under version control; and a cache of the
// checksums of local files, which is not.
//
// It must not know how sources are fetched.
package lockfile
