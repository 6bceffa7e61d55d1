// Package qrels has the judgments of documents, as TREC's files have them: which documents
// are relevant to a query and how much, and names that stand in one field of a line.
//
// It must not know rankings or what they are worth.
package qrels
