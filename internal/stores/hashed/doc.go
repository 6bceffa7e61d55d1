// Package hashed is a file as it was when it was hashed: its digest, a proof that it still has these bytes, which
// saves reading them (Proof), and both by path for the next time (Memory). It must not know stores, pipelines or
// what a file is for.
package hashed
