// Package lsp is a language server for pipeline files: diagnostics, completion, hover, definitions and symbols, over the
// Language Server Protocol 3.17.
//
// It owns the protocol, the texts that an editor has open, and what can be said of a place in a text that may be broken.
// Package pipeline says what is right and what values are; the caller says, in the background, what has results. It must not
// know stores, Temporal, the command line or any kind, writes no file and starts nothing.
//
// Messages are handled in their order. Pipelines are loaded behind them, the newest text only, so that no request is held up
// by a load: answers come from the text as it is and the values of the last load.
package lsp
