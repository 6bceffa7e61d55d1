// Package dir is an artifact store in a directory, on a local disk or a file
// system that several machines mount.
//
//	blobs/ab/cdef…          one read-only file per blob, by digest
//	records/results/….json  one file per record, name escaped (artifacts/names.go)
//	leases/….json           records that are not synced: who is working on what
//	tmp/                    files being written, and what says who replaces a record
//	aside/                  what lay in the place of a blob or record, or beside them
//
// Everything is written, or moved, to tmp/, synced, and renamed or linked into place, so
// that a kill or a power cut leaves either the whole file or nothing. What a
// killed writer left in tmp/ is swept a day later by the next Open. No file locks are taken.
package dir
