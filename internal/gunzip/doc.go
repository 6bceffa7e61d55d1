// Package gunzip reads gzip streams (RFC 1952, RFC 1951) of large, repetitive text
// fast: Natural Questions and Wikipedia's dumps come as single streams, and nothing
// that reads them can be faster than this.
//
// It accepts and refuses what compress/gzip does, any number of members included,
// and gives the same errors. What makes it faster: 64 bits of input at a time, one
// table look-up per symbol that also holds the number of extra bits, and matches
// copied by words inside of one buffer.
//
// Reading order: reader.go, block.go, table.go, inflate.go.
package gunzip
