// Package s3 is an artifact store in a bucket: MinIO, AWS S3, or anything that speaks their protocol. The layout below
// the prefix is the same as in package dir, so that a bucket and a directory can be mirrored into each other.
//
//	PREFIX/blobs/ab/cdef…          one object per blob, by digest
//	PREFIX/records/results/….json  one object per record
//	PREFIX/leases/….json           who is working on what
//	PREFIX/probe/if-none-match     with which the server is tried, see race.go
//	PREFIX/probe/verdict.json      and what writers at once found
//
// Blobs are hashed before they are sent: a blob of up to smallBlob stays in memory, a larger one goes through an
// unlinked temporary file. As the digest is known first, a blob that is there is not sent, the server checks the digest
// of what arrives, retries can start over from any part, and no object under a provisional name needs a server-side copy
// (which would move every byte twice and stops at 5 GiB) or can be left behind by a kill.
//
// A multipart upload that a kill cut off is invisible, but takes up space until the server drops it: MinIO does after a
// day, on AWS set the lifecycle rule AbortIncompleteMultipartUpload.
package s3
