// Package stores is the district of the places where artifacts lie: package dir keeps them in a directory, s3 in a
// bucket, mem in memory, and web reads them from a static host. Package open picks a place by its URL, storetest has
// what tests of stores share, local is where blobs meet files on this machine, and hashed proves that a file still
// has the bytes that were hashed. The tests of this package are the suite that all places pass.
//
// A place is an artifacts.Driver: it moves bytes by path and knows nothing of digests, results or signatures, which
// package artifacts does for every place. Places import artifacts and internal/system.
//
// Begin with Driver in artifacts/store.go, then mem, the smallest place.
package stores
