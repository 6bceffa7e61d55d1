package collection

import (
	"context"
	"io"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// comparePackageConfig compares a published collection with ours.
type comparePackageConfig struct {
	Documents        step.Input `hcl:"documents" accepts:"nq/documents" help:"our collection"`
	Queries          step.Input `hcl:"queries" accepts:"nq/queries" help:"its queries"`
	Corpus           step.Input `hcl:"corpus" accepts:"nq/corpus" help:"its texts"`
	PackageDocuments step.Input `hcl:"package_documents" accepts:"nq/documents" help:"the package's collection"`
	PackageQueries   step.Input `hcl:"package_queries" accepts:"nq/queries" help:"its queries"`
	PackageCorpus    step.Input `hcl:"package_corpus" accepts:"nq/corpus" help:"its texts"`
	Examples         int        `hcl:"examples,optional" min:"0" help:"differences of each kind that are shown"`
}

var ComparePackage = step.Define(step.Kind[comparePackageConfig]{
	Name:    "compare_package",
	Version: 1,
	Doc: `Compare a collection that kind package read with one of ours, record by record.
Documents are paired by the examples that ask for them. Counts which pairs have the same
records, number, title and text, which queries have the same question, split and target,
and shows the first differences with what surrounds them. Titles are those of URLs, where
there are URLs. Texts are streamed; of each document and query 150 bytes are held.`,
	Example: `step "compare_package" "page_id" {
  documents         = step.dedup.nq["page_id"].documents
  queries           = step.dedup.nq["page_id"].queries
  corpus            = step.serialize.nq["page_id/html_norm"].corpus
  package_documents = step.package.published.documents
  package_queries   = step.package.published.queries
  package_corpus    = step.package.published.corpus
}`,
	Outputs:  []step.Output{{Name: "report", Type: "nq/package_comparison", Help: "what is the same, what differs and where, as JSON", Fields: step.FieldsOf[nq320k.Comparison]()}},
	Defaults: comparePackageConfig{Examples: 10},
	Run:      runComparePackage,
})

func runComparePackage(_ context.Context, x *step.IO, c comparePackageConfig) error {
	report, err := nq320k.Compare(side(x, c.Documents, c.Queries, c.Corpus), side(x, c.PackageDocuments, c.PackageQueries, c.PackageCorpus), c.Examples)
	if err != nil {
		return inout.DataError(err)
	}
	d, q := report.Documents, report.Queries
	return inout.WriteReport(x, report, map[string]int{"pairs": d.Pairs, "unpaired_ours": d.Ours - d.Pairs,
		"unpaired_package": d.Package - d.Pairs, "other_texts": d.Pairs - report.Texts.Same,
		"other_titles": report.Titles.Differ, "other_numbers": d.Pairs - d.SameNumber, "other_targets": q.OtherTarget})
}

// side is one collection of a comparison.
func side(x *step.IO, documents, queries, texts step.Input) nq320k.Collection {
	return nq320k.Collection{
		Documents: func() (io.ReadCloser, error) { return x.Open(documents) },
		Queries:   func() (io.ReadCloser, error) { return x.Open(queries) },
		Corpus:    func() (*corpus.Reader, func(), error) { return inout.OpenCorpus(x, texts) },
	}
}
