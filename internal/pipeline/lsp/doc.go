// Package lsp is a language server for pipeline files: diagnostics, completion, hover,
// definitions and symbols, over the Language Server Protocol 3.17.
//
// It owns the protocol, the texts that an editor has open, and what can be said of a place
// in a text that may be broken. What is right and what values are it asks package pipeline;
// what has results it asks its caller, in the background. It must not know stores, Temporal,
// the command line or any kind, writes no file and starts nothing.
//
// Messages are handled in their order. Pipelines are loaded behind them, the newest text
// only, so that no request waits for one: answers are made of the text as it is and of the
// values of the last load.
package lsp
