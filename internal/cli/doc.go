// Package cli is redsi's command line: a file per verb, and what verbs share. It wires the
// other packages together and must not know any kind: it is given a registry.
package cli
