package ranking

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importSource is what import_run and import_qrels have in common: which files are read.
type importSource struct {
	Files     step.Inputs `hcl:"files" accepts:"files,file" help:"what is imported, plain or compressed; of several files one after another"`
	File      string      `hcl:"file,optional" help:"name, or pattern with *, of the file to read; default: all"`
	Documents step.Input  `hcl:"documents,optional" accepts:"nq/documents" help:"collection whose documents the files name; default: names stay"`
	Queries   step.Input  `hcl:"queries,optional" accepts:"nq/queries" help:"collection whose queries they name; default: names stay"`
	Split     string      `hcl:"split,optional" enum:",train,dev,test" help:"whose queries these are, if queries of several splits share a name"`
	Unknown   string      `hcl:"unknown,optional" enum:"fail,leave_out" help:"what to do with lines with a name that the collection lacks; of a run, ranks below them close up"`
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
func (s importSource) each(x *step.IO, read func(io.Reader, trec.Format, func(trec.Row) error) (trec.Format, error), format string, r *importReport, visit func(row trec.Row, outside string) error) error {
	n, err := collectionNames(x, s.Documents, s.Queries, s.Split)
	if err != nil {
		return err
	}
	files, err := inout.ChosenFiles(x, s.Files, "files", s.File, "*")
	if err != nil {
		return err
	}
	var formats []string // in which files are, each once
	for _, f := range files {
		in, err := x.OpenFile(f)
		if err != nil {
			return err
		}
		is, err := read(in, trec.Format(format), func(row trec.Row) error {
			query, document, err := n.inside(row.Query, row.Document)
			var unknown *unknownError
			if errors.As(err, &unknown) && s.Unknown == "leave_out" {
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
		if !slices.Contains(formats, string(is)) {
			formats = append(formats, string(is))
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
