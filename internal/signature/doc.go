// Package signature owns Ed25519 keys of people and machines, documents that they sign, and
// which keys a project believes. It must not know what the documents say.
package signature
