// Package msmarco makes a collection of MS MARCO's document ranking data: documents of
// docid, url, title and body, queries, and judgments that join them. It owns the reading of
// these files, the choice of documents and queries, and when two documents are one. It must
// not know steps or stores; what it makes are the Documents and Queries of package dedup and
// the texts of package corpus, so that all that follows works as on Natural Questions.
//
// Reading order: lines.go (the three kinds of lines), questions.go (queries with their
// judgments), sample.go (which documents and queries are taken), collection.go.
package msmarco
