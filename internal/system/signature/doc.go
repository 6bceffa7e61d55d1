// Package signature owns Ed25519 keys of people and machines, documents signed with them, and
// which keys a project trusts. It must not know what the documents say.
package signature
