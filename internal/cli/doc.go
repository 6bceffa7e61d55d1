// Package cli is redsi's command line: a file for a verb, or for several of one subject, main.go that lists them, and what verbs
// share: app.go, flags.go and setup.go. It wires the other packages together and must not know any kind: kinds come from a registry.
package cli
