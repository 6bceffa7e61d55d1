package view

import (
	"io"

	"github.com/redsi/redsi/internal/ranking/search"
)

// Answer prints the answer to a query, of documents' words as many as fit into a width.
func Answer(w io.Writer, st Style, s search.Answered, width int) {
	const indent = "      "
	Println(w, st.Bold(s.Query))
	if len(s.Results) == 0 {
		Println(w, indent+"the model returned no document")
	}
	for _, h := range s.Results {
		Printf(w, "%4d. %s\n", h.Rank, h.Heading())
		Printf(w, "%sscore %.3f (%s)  identifier %s  document %s\n", indent, h.Score, search.Percent(h.Probability), h.Identifier, h.Document)
		if h.Text != "" {
			Printf(w, "%s%s\n", indent, st.Dim(search.FirstWords(h.Text, width-len(indent)-2)))
		}
	}
	Println(w)
}
