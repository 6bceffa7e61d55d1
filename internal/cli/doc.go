// Package cli is redsi's command line: a file per verb, and what verbs share. It wires the
// other packages together and must not know any kind: kinds come from a registry.
package cli
