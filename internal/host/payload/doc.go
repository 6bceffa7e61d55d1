// Package payload owns what Temporal sees of the data that redsi sends through it: a codec that encrypts payloads and
// the texts of failures with AES-256-GCM, the file with its keys, and the errors of a process that lacks a key.
//
// An encrypted payload holds a payload with its metadata. Its own metadata, encoding and key id, are authenticated. It
// may be exchanged for another, or for a plain one, unseen: writers to the cluster are trusted, readers are not.
//
// A codec without keys, the default, encrypts nothing and says which key is missing.
package payload
