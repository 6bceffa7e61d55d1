// Package cli is redsi's command line: a file per verb, main.go that lists them, and what verbs share, from app.go,
// style.go, flags.go, group.go and hint.go up to setup.go and reproduce.go, the run of several verbs. It wires the
// other packages together and must not know any kind: kinds come from a registry.
package cli
