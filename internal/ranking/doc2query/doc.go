// Package doc2query generates the queries that a document might be asked for (Nogueira et al., 2019), as DSI-QG's
// representation of documents (Zhuang et al., 2022): what a model that writes queries must be given, and a collection's
// queries with the generated ones, without queries that would leak or repeat.
//
// It must not know identifiers or steps. A document is its number.
//
// Reading order: settings.go, merge.go, report.go.
package doc2query
