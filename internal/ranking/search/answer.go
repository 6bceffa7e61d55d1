package search

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hit is a document that a model names.
type Hit struct {
	Rank        int     `json:"rank"`        // from 1
	Score       float64 `json:"score"`       // what ranks: log-probability / tokens^length penalty; one token: the log-probability
	Probability float64 `json:"probability"` // that the model generates this identifier, 0 to 1
	Title       string  `json:"title"`
	Identifier  string  `json:"identifier"` // "141913"; atomic: "<doc_000042>"
	Document    string  `json:"document"`   // its name in the collection
	Text        string  `json:"text"`       // first words
}

// headingText bounds what replaces a title, in characters.
const headingText = 60

// Heading is what a document is called for people: its title, or else its first words, or else its name.
func (h Hit) Heading() string {
	switch {
	case h.Title != "":
		return h.Title
	case h.Text != "":
		return FirstWords(h.Text, headingText)
	}
	return "document " + h.Document
}

// Answer is what is found for a query, best first.
type Answer struct {
	Hits      []Hit `json:"results"`
	Invalid   int   `json:"invalid"`             // hypotheses that name no document: 0 where search is constrained
	Truncated bool  `json:"truncated,omitempty"` // the model read only the first tokens of the query
}

// Answered is a query with its answer, as JSON has it.
type Answered struct {
	Query string `json:"query"`
	Answer
}

// Found is what a search found for all queries, as JSON has it.
type Found struct {
	Model   string     `json:"model"`
	Search  About      `json:"search"`
	TookMS  float64    `json:"took_ms"` // for the queries, not for opening the model
	Answers []Answered `json:"answers"`
}

// About says what is searched and how.
type About struct {
	Identifiers string `json:"identifiers"` // a docid.Kind
	Documents   int    `json:"documents"`
	Decoding    string `json:"decoding"` // constrained, unconstrained, or exhaustive for identifiers of one token
	Beams       int    `json:"beams"`    // of a search, and the most documents of an answer
	Device      string `json:"device"`
	Precision   string `json:"precision"`         // of matrix products
	Warning     string `json:"warning,omitempty"` // what whoever chose these should know
}

// The ways to find identifiers.
const (
	Constrained   = "constrained"   // only identifiers of the collection are generated
	Unconstrained = "unconstrained" // anything is generated; what is not an identifier is left out
	Exhaustive    = "exhaustive"    // every document is scored
)

// Explain says in a sentence how documents are found.
func (a About) Explain() string {
	switch a.Decoding {
	case Exhaustive:
		return "every document is scored in one decoder step"
	case Constrained:
		return fmt.Sprintf("%d beams, constrained: only identifiers of the collection are generated", a.Beams)
	}
	return fmt.Sprintf("%d beams over the whole vocabulary: hypotheses that are not an identifier are left out", a.Beams)
}

// MaxQuery bounds a query, in characters. A model reads far less of it.
const MaxQuery = 1000

// Clean checks a query, makes control characters blanks, which no terminal obeys, and takes the blanks around it off.
func Clean(query string) (string, error) {
	if !utf8.ValidString(query) {
		return "", errors.New("the query is not UTF-8")
	}
	query = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, query))
	if !strings.ContainsFunc(query, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		return "", errors.New("the query is empty")
	}
	if n := utf8.RuneCountInString(query); n > MaxQuery {
		return "", fmt.Errorf("the query has %d characters; at most %d are taken", n, MaxQuery)
	}
	return query, nil
}

// Percent prints a probability for people: 62.0 %, 0.31 %, and smaller ones as powers of ten.
func Percent(p float64) string {
	switch {
	case p >= 0.01:
		return fmt.Sprintf("%.1f %%", 100*p)
	case p >= 0.0001:
		return fmt.Sprintf("%.2f %%", 100*p)
	}
	return fmt.Sprintf("%.0e", p)
}
