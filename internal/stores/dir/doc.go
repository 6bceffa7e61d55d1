// Package dir is an artifact store in a directory, on a local disk or a file system that several machines
// mount.
//
//	blobs/ab/cdef…          one read-only file per blob, by digest
//	records/results/….json  one file per record, name escaped (artifacts/names.go)
//	leases/….json           records that are not synced: who is working on what
//	tmp/                    files being written, and claims on the replacement of records
//	aside/                  strays from the place of a blob or record, or from beside them
//
// Everything is written, or moved, to tmp/, synced, and renamed or linked into place, so that a kill or a
// power cut leaves either the complete file or nothing. Open sweeps what a killed writer left in tmp/ a day
// before. No file locks are taken.
package dir
