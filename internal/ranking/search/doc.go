// Package search answers questions in words with a trained model and shows the
// documents that it names: what retrieve does with numbers, for people.
//
// An Engine is opened from files, a model's folder, its tokenizer and the identifiers, and from the cards of the
// documents, which are read from the texts of a collection. Package server puts one behind HTTP. Neither knows steps,
// stores or pipelines.
//
// Reading order: answer.go, cards.go, queries.go, remote.go.
package search
