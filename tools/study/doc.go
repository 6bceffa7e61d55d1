// Command study makes a retrieval collection of a manual: the HTML of PostgreSQL's
// documentation and what its authors wrote into it.
//
//	go run ./tools/study -html FOLDER -out examples/postgresql
//	go run ./tools/study -html FOLDER -out examples/datatypes -only datatype
//
// Documents are its sections, each with its own text and without that of its subsections.
// Queries with judgments are the entries of the book's index, and relevant are the
// sections that an entry points to. What else people wrote about a section, the words of
// links to it and the sentences that refer to it, is material for training alone. The
// files have BEIR's layout, beside which sentences.jsonl.gz has each section's title and some of
// its own sentences, to train on as if they were queries; the same HTML gives the same bytes. counts.json says what was
// left out and why.
//
// It must not know what is done with the collection: it reads HTML and writes files.
package main
