// Package payload owns what Temporal sees of the data that redsi sends through it:
// a codec that encrypts payloads and the texts of failures with AES-256-GCM, the
// file that its keys come from, and the errors of a process that lacks a key.
//
// An encrypted payload holds a whole payload, its metadata included. Its own
// metadata is the encoding and the id of the key; both are authenticated. That one
// encrypted payload is in another's place, or none in an encrypted one's, is not
// found: who can write to the cluster is trusted, who can read it is not.
//
// A codec without keys, the default, encrypts nothing and says which key is missing.
package payload
