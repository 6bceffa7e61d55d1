// Package hashed is a file as it was when it was hashed: its digest, and the proof that it still has
// the bytes of that digest without reading them again (Proof), kept by path for the next time (Memory).
// It must not know stores, pipelines or what a file is for.
package hashed
