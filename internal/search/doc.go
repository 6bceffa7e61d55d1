// Package search answers questions in words with a trained model and shows the
// documents that it names: what retrieve does with numbers, for people.
//
// An Engine is opened from files: a model's folder, its tokenizer, the identifiers,
// the texts and, for titles, the documents of its collection. Package server puts
// one behind HTTP. Neither knows steps, stores or pipelines.
//
// Reading order: answer.go, cards.go, engine.go.
package search
