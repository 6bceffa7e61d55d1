// Package server puts a search over HTTP: a page for people at /, JSON at /search,
// and /healthz. Queries that come while the model is busy are answered together.
//
// It must not know models: it asks a Searcher.
//
// Reading order: batcher.go, handler.go, page.go, serve.go.
package server
