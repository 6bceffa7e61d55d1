// Command deps installs one native part of redsi into a folder: libtorch out of wheels that pip downloads, the stub
// archives and the header that gotch needs, libtokenizers.a from its crate, or a server from its Go module.
//
// The Makefile owns paths and flags and names the parts; missing parts are installed side by side, each with a line
// that says how far it is. A part appears complete or not at all: it is built in a folder beside its own, gets its done
// file there, and is renamed. A lock file per part makes concurrent makes, of any clone, wait for each other; the
// operating system drops the lock when its holder dies, so there are no stale locks.
//
// The package uses the standard library only, so that it runs before any module has been downloaded, and must not
// know redsi's packages. It names no registry: pip, go and cargo know theirs.
package main
