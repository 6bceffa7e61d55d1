package ranking

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type exportRunConfig struct {
	Runs      map[string]step.Input `hcl:"runs" accepts:"trec/run" help:"rankings by name, which is the file's name and the run's tag"`
	Qrels     step.Input            `hcl:"qrels,optional" accepts:"trec/qrels" help:"judgments, written as qrels.txt"`
	Documents step.Input            `hcl:"documents,optional" accepts:"nq/documents" help:"collection whose documents are written by their names; default: by number"`
	Queries   step.Input            `hcl:"queries,optional" accepts:"nq/queries" help:"collection whose queries are written by their names; default: by number"`
	Split     string                `hcl:"split,optional" enum:",train,dev,test" help:"whose queries these are, if queries of several splits share a number"`
	Metadata  bool                  `hcl:"metadata,optional" help:"begin each run with ir_metadata's header, which trec_eval skips from version 10 on"`
	PRIMAD    string                `hcl:"primad,optional" help:"what the header says of all runs: YAML, or jsonencode() of an object, with platform, research goal, implementation, method, actor, data"`
	PRIMADOf  map[string]string     `hcl:"primad_of,optional" help:"the same for a run by its name, in place of what primad says of a component"`
}

var ExportRun = step.Define(step.Kind[exportRunConfig]{
	Name:    "export_run",
	Version: 2,
	Doc: `Write rankings and judgments as files for other programs, under their original names.
trec_eval, ir_measures and ranx score the files as redsi does, ties included: where two
scores of a ranking are one as float32, the lower one is written as the next float32
below. Names are as export writes them with ids = "key": as they are, but that white
space and control characters of ASCII, and a # with which a query begins, are _ there,
which is counted as names_changed; where two would become one, the step fails. Judgments of queries that the collection does not list, as they
have no relevant document, are left out and counted. With metadata each run begins with the header of ir_metadata
(https://www.ir-metadata.org, version 0.1) as comments, which repro_eval reads; the six
components are there, without a value where nothing is given. Cost: memory grows with
a run, 150 bytes a row.`,
	Example: `step "export_run" "dev" {
  runs      = { bm25 = step.bm25.dev.run, dense = step.dense.dev.run }
  qrels     = step.import_corpus.passages.dev_qrels
  documents = step.import_corpus.passages.documents
  queries   = step.import_corpus.passages.queries
  metadata  = true
  primad    = jsonencode({ actor = { name = "Jane Doe", role = "experimenter" } })
  primad_of = { bm25 = jsonencode({ method = { automatic = true, retrieval = [{ name = "bm25", b = 0.4, k1 = 0.9 }] } }) }
}`,
	Outputs: []step.Output{{Name: "files", Type: "files", Tree: true, Help: "NAME.run, and qrels.txt"}},
	Check: inout.Checks(func(c exportRunConfig, ps *step.Problems) {
		inout.Check(ps, "runs", len(c.Runs) > 0, "needs at least one")
		for _, name := range slices.Sorted(maps.Keys(c.Runs)) {
			word := artifacts.CheckFileName(name) == nil && !strings.Contains(name, "/") && trec.EncodeName(name) == name
			inout.Check(ps, "runs", word, "%q is not a file name of one word", name)
		}
		inout.Check(ps, "metadata", c.Metadata || c.PRIMAD == "" && len(c.PRIMADOf) == 0, "must be true for primad to be written")
		_, err := trec.ParseMetadata(c.PRIMAD)
		inout.CheckError(ps, "primad", err)
		for _, name := range slices.Sorted(maps.Keys(c.PRIMADOf)) {
			_, ok := c.Runs[name]
			inout.Check(ps, "primad_of", ok, "%q is not one of the runs", name)
			_, err := trec.ParseMetadata(c.PRIMADOf[name])
			inout.CheckError(ps, fmt.Sprintf("primad_of[%q]", name), err)
		}
	}),
	Run: runExportRun,
})

// outsideNames are the names that documents or queries have outside of redsi.
type outsideNames struct {
	trec.Outside
	what     string
	byNumber map[string]string // nil: there is no collection, names stay
}

func namesOutside(x *step.IO, c exportRunConfig) (documents, queries *outsideNames, err error) {
	documents, queries = &outsideNames{what: "document"}, &outsideNames{trec.Outside{Queries: true}, "query", nil}
	if c.Documents.Set() {
		documents.byNumber = map[string]string{}
		err = inout.EachRow(x, c.Documents, "documents", func(d *dedup.Document) error {
			return documents.add(strconv.Itoa(int(d.Doc)), d.Key)
		})
	}
	if c.Queries.Set() && err == nil {
		queries.byNumber = map[string]string{}
		err = eachName(x, c.Queries, c.Split, func(name, number string) error { return queries.add(number, name) })
	}
	return documents, queries, err
}

func (n *outsideNames) add(number, name string) error {
	out, err := n.Name(number, name)
	if other, ok := n.byNumber[number]; ok && other != out {
		return fmt.Errorf("queries of several splits have the number %s; say which split is meant", number)
	}
	n.byNumber[number] = out
	return err
}

// of returns a name outside; an error if the collection lacks the document or query.
func (n *outsideNames) of(inside string) (string, error) {
	if n.byNumber == nil {
		return n.Name(inside, inside)
	}
	if name, ok := n.byNumber[inside]; ok {
		return name, nil
	}
	return "", fmt.Errorf("the collection has no %s %.40s; do run and collection belong together?", n.what, inside)
}

func runExportRun(_ context.Context, x *step.IO, c exportRunConfig) error {
	documents, queries, err := namesOutside(x, c)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Runs)) {
		rankings, err := inout.Read(x, c.Runs[name], name, trec.ReadRun)
		if err != nil {
			return err
		}
		for i := range rankings {
			r := &rankings[i]
			if r.Query, err = queries.of(r.Query); err != nil {
				return step.Permanent(fmt.Errorf("%s: %w", name, err))
			}
			for k, h := range r.Hypotheses {
				if h.Document == "" {
					continue
				}
				if r.Hypotheses[k].Document, err = documents.of(h.Document); err != nil {
					return step.Permanent(fmt.Errorf("%s: %w", name, err))
				}
			}
		}
		untied, moved := trec.Untie(rankings)
		x.Count("scores_untied", int64(moved))
		var header []byte
		if c.Metadata {
			all, _ := trec.ParseMetadata(c.PRIMAD) // both are checked
			own, _ := trec.ParseMetadata(cmp.Or(c.PRIMADOf[name], "{}"))
			maps.Copy(all, own)
			if header, err = all.Header(name); err != nil {
				return step.Permanent(err)
			}
		}
		err = inout.WriteFile(x, "files", name+".run", func(w io.Writer) error {
			if _, err := w.Write(header); err != nil {
				return err
			}
			return step.Permanent(trec.WriteRun(w, name, untied, trec.AsItIs))
		})
		if err != nil {
			return err
		}
	}
	if c.Qrels.Set() {
		if err := exportQrels(x, c.Qrels, documents, queries); err != nil {
			return err
		}
	}
	x.Count("names_changed", int64(documents.Renamed+queries.Renamed))
	return nil
}

func exportQrels(x *step.IO, in step.Input, documents, queries *outsideNames) error {
	judged, err := inout.Read(x, in, "", trec.ReadQrels)
	if err != nil {
		return err
	}
	var out trec.Judgments
	for j := range judged.Each {
		if _, listed := queries.byNumber[j.Query]; queries.byNumber != nil && !listed {
			x.Count("judgments_of_unlisted_queries", 1) // the collection lists queries with a relevant document
			continue
		}
		q, err := queries.of(j.Query)
		d, errDocument := documents.of(j.Document)
		if err = cmp.Or(err, errDocument); err != nil {
			return step.Permanent(fmt.Errorf("qrels: %w", err))
		}
		if err := out.Judge(q, d, j.Grade); err != nil {
			return step.Permanent(err)
		}
	}
	return inout.WriteFile(x, "files", "qrels.txt", func(w io.Writer) error { return out.WriteAs(w, trec.AsItIs) })
}
