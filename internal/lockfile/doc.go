// Package lockfile keeps what is known of a pipeline's sources: redsi.lock, the
// checksums that first use pinned, beside the pipeline and under version
// control; and a memory of the checksums of local files, which is not.
//
// It must not know how sources are fetched.
package lockfile
