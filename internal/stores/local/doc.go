// Package local is where blobs meet files on this machine: files with the verified bytes of
// blobs (Fetch, WriteFiles), files that become blobs (Take), and names of files within folders (Create,
// Link, Hold). It must not know where a store is.
package local
