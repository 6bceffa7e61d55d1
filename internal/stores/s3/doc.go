// Package s3 is an artifact store in a bucket: MinIO, AWS S3, or anything that
// speaks their protocol. The layout below the prefix is that of package dir, so
// that a bucket and a directory can be mirrored into each other.
//
//	PREFIX/blobs/ab/cdef…          one object per blob, by digest
//	PREFIX/records/results/….json  one object per record
//	PREFIX/leases/….json           who is working on what
//	PREFIX/probe/if-none-match     what the server was tried with, see race.go
//	PREFIX/probe/verdict.json      and what writers at once found
//
// Blobs are hashed before they are sent: what fits in smallBlob stays in
// memory, the rest goes through an unlinked temporary file. With the digest known
// first, a blob that is there is not sent again, the server checks the digest of
// what arrives, retries can start over from any part, and no object under a
// provisional name needs a server-side copy (which would move every byte twice
// and stops at 5 GiB) or can be left behind by a kill.
//
// A multipart upload that a kill cut off is invisible, but takes up space until
// the server drops it: MinIO does after a day, on AWS set the lifecycle rule
// AbortIncompleteMultipartUpload.
package s3
