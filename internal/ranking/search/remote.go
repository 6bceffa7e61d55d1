package search

import (
	"fmt"
	"strconv"
)

// Files are where a trained model and its collection's identifiers lie. All of them are read while an Engine
// is opened and none afterwards.
type Files struct {
	Model     string // folder: config.json, weights, retrieve.SettingsFile
	Tokenizer string // tokenizer.json, plain or gzip
	IDs       string // docid.Set
}

// Options are how an Engine searches.
type Options struct {
	Beams         int    // of a search, and the most documents of an answer; the paper's 40
	Unconstrained bool   // beams may leave the identifiers of the collection
	Precision     string // of matrix products: "fp32" or "bf16"
	Device        string // "auto": a card if there is one; "cpu", "cuda", "cuda:1"
}

// The calls that an Engine answers, and what they are given. Documents have the numbers from 0 on.
const (
	OpenCall = "search.open" // Opening; answers About
	AskCall  = "search.ask"  // Asking; answers []Answer without titles and texts
)

// Opening is what an Engine is opened from.
type Opening struct {
	Files     Files
	Documents int
	Options   Options
}

// Asking is what it is asked.
type Asking struct {
	Queries []string
	K       int
}

// Fill adds to answers what people are shown of documents. A document that cards do not have is an error.
func Fill(answers []Answer, cards []Card) error {
	for _, a := range answers {
		for i := range a.Hits {
			n, err := strconv.Atoi(a.Hits[i].Document)
			if err != nil || n < 0 || n >= len(cards) {
				return fmt.Errorf("the search names document %q, which the collection does not have", a.Hits[i].Document)
			}
			a.Hits[i].Title, a.Hits[i].Text = cards[n].Title, cards[n].Text
		}
	}
	return nil
}
