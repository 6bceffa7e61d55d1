package ranking

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// unknownFail and unknownLeaveOut are what becomes of names that a collection lacks.
const (
	unknownFail     = "fail"
	unknownLeaveOut = "leave_out"
)

// importSource says which imported files are read.
type importSource struct {
	files              step.Inputs
	file, format       string
	documents, queries step.Input
	split, unknown     string
}

// importReport is what was read.
type importReport struct {
	Format  string `json:"format"`
	Rows    int    `json:"rows"` // that were taken
	Queries int    `json:"queries"`

	UnknownDocuments int `json:"unknown_documents"` // lines left out for a document that the collection lacks
	UnknownQueries   int `json:"unknown_queries"`   // for a query
}

// each visits the rows of all files, with the names of the collection. Errors name file
// and line.
func (s importSource) each(x *step.IO, judgments bool, r *importReport, visit func(row trec.Row, outside string) error) error {
	n, err := collectionNames(x, s.documents, s.queries, s.split)
	if err != nil {
		return err
	}
	read := trec.ReadRun
	if judgments {
		read = trec.ReadJudgments
	}
	files, err := inout.ChosenFiles(x, s.files, "files", s.file, "*")
	if err != nil {
		return err
	}
	var formats []string // in which files are, each once
	for _, f := range files {
		in, err := x.OpenFile(f)
		if err != nil {
			return err
		}
		format, err := read(in, trec.Format(s.format), func(row trec.Row) error {
			query, document, err := n.inside(row.Query, row.Document)
			var unknown *unknownError
			if errors.As(err, &unknown) && s.unknown == unknownLeaveOut {
				if unknown.what == "query" {
					r.UnknownQueries++
				} else {
					r.UnknownDocuments++
				}
				return nil
			}
			if err != nil {
				return err
			}
			outside := row.Document
			row.Query, row.Document = query, document
			r.Rows++
			return visit(row, outside)
		})
		in.Close()
		if err != nil {
			return inout.DataError(fmt.Errorf("%s: %w", f.Name, err))
		}
		if !slices.Contains(formats, string(format)) {
			formats = append(formats, string(format))
		}
	}
	r.Format = strings.Join(formats, ", ")
	if r.Rows == 0 {
		return step.Permanent(fmt.Errorf("no line of %d files was used; %d name unknown queries, %d unknown documents", len(files), r.UnknownQueries, r.UnknownDocuments))
	}
	inout.Count(x, map[string]int{"rows": r.Rows, "unknown_documents": r.UnknownDocuments,
		"unknown_queries": r.UnknownQueries})
	return nil
}
