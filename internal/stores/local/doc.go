// Package local is where blobs meet files on this machine: files with the verified bytes of
// blobs (Fetch, WriteFiles), files that become blobs (Take), names of files within folders (Create,
// Link, Hold), and whether a file is still as it was when it was hashed (HashFile, Seen). It must not know where a store is.
package local
