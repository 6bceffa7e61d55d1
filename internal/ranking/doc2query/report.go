package doc2query

// Report counts what became of generated queries.
type Report struct {
	Documents   int     `json:"documents"`
	WithQueries int     `json:"documents_with_queries"` // with a generated query that was kept
	Generated   int     `json:"generated"`
	Kept        int     `json:"kept"`
	Leaks       int     `json:"leaks"`    // left out: a development or test query
	Repeated    int     `json:"repeated"` // left out: its document has it already, of the generated ones
	InTraining  int     `json:"known"`    // left out: a training query of its document
	Empty       int     `json:"empty"`    // left out: without letters and digits
	Shared      int     `json:"shared"`   // texts that are kept for several documents
	MeanWords   float64 `json:"mean_words"`

	Train      int `json:"train_queries"`          // own lines of training that are kept
	LeftOut    int `json:"train_queries_left_out"` // own lines of training that are not
	Evaluation int `json:"evaluation_queries"`     // lines of the other splits

	Examples []Examples `json:"examples"` // of the first documents with generated queries
	Leaked   []string   `json:"leaked"`   // the first

	words int
}

// Examples are what was generated for a document and kept.
type Examples struct {
	Doc     int32    `json:"doc"`
	Queries []string `json:"queries"`
}

// Bounds of what a report shows.
const (
	exampleDocuments = 5
	exampleLeaks     = 10
)

func (r *Report) example(doc int32, text string) {
	n := len(r.Examples)
	if n > 0 && r.Examples[n-1].Doc == doc {
		r.Examples[n-1].Queries = append(r.Examples[n-1].Queries, text)
	} else if n < exampleDocuments {
		r.Examples = append(r.Examples, Examples{Doc: doc, Queries: []string{text}})
	}
}
