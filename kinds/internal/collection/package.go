package collection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type packageConfig struct {
	Files  step.Inputs `hcl:"files" accepts:"files,hub/dataset" help:"documents.jsonl.gz, train_queries.jsonl.gz, validation_queries.jsonl.gz and metadata.json, or a tree that has them in a folder"`
	Folder string      `hcl:"folder,optional" help:"folder that has the four files, such as data/htmlnorm/pageid; default: the only one that has a metadata.json"`
}

var Package = step.Define(step.Kind[packageConfig]{
	Name:    "package",
	Version: 1,
	Doc: `Read a collection in the layout in which NQ320K was published.
Its documents, queries and texts become those that dedup and serialize leave, so that
a model can be trained on them: docid is the document's number. The layout has no URLs:
documents have no revision and no page. A file that is missing or cut, another version of
the format, a docid out of order and a query whose docid is missing are errors that name
file and line. Streams; memory is 100 bytes a query.`,
	Example: `step "package" "published" {
  files = step.download.published.files
}`,
	Outputs: []step.Output{
		{Name: "documents", Type: "nq/documents", Help: "documents.jsonl.zst, as dedup leaves it, without key, URL and revision"},
		{Name: "queries", Type: "nq/queries", Help: "queries.jsonl.zst, as dedup leaves it"},
		{Name: "corpus", Type: "nq/corpus", Help: "corpus.jsonl.zst, as serialize leaves it: title and text"},
		{Name: "report", Type: "report", Help: "style, key and counts, as JSON", Fields: step.FieldsOf[nq320k.Contents]()},
	},
	Run: runPackage,
})

func runPackage(ctx context.Context, x *step.IO, c packageConfig) error {
	files, err := packageFiles(x, c)
	if err != nil {
		return step.Permanent(err)
	}
	open := func(name string) (io.ReadCloser, error) { return x.OpenFile(files[name]) }
	var have nq320k.Contents
	err = inout.WriteLines(x, "documents", func(document func(any) error) error {
		return inout.WriteLines(x, "queries", func(query func(any) error) error {
			return writeCorpus(x, func(texts *corpus.Writer) error {
				var err error
				have, err = nq320k.Read(open, nq320k.Visitor{
					Query: func(q *dedup.Query) error { return query(q) },
					Document: func(d *dedup.Document, text string) error {
						if ctx.Err() != nil {
							return ctx.Err()
						}
						x.Report(step.Progress{Done: int64(d.Doc) + 1, Unit: "documents"})
						return errors.Join(document(d), texts.Write(corpus.Document{Doc: d.Doc, Title: d.Title, Text: text}))
					},
				})
				return inout.DataError(err)
			})
		})
	})
	if err != nil {
		return err
	}
	return inout.WriteReport(x, have, map[string]int{"queries": have.Train + have.Dev,
		"documents_without_text": have.WithoutText, "other_source_ids": have.OtherSources})
}

// packageFiles finds the four files of one folder.
func packageFiles(x *step.IO, c packageConfig) (map[string]artifacts.File, error) {
	folders := map[string]map[string]artifacts.File{}
	var described []string // folders that have a metadata.json
	for _, in := range c.Files {
		for _, f := range x.Files(in, "file") {
			folder, name := path.Split(f.Name)
			folder = strings.TrimSuffix(folder, "/")
			if !slices.Contains(nq320k.Files(), name) {
				continue
			}
			if folders[folder] == nil {
				folders[folder] = map[string]artifacts.File{}
			}
			if old, ok := folders[folder][name]; ok && old.Digest != f.Digest {
				return nil, fmt.Errorf("%s is given twice", f.Name)
			}
			folders[folder][name] = f
			if name == nq320k.MetadataFile {
				described = append(described, folder)
			}
		}
	}
	folder := strings.Trim(c.Folder, "/")
	if c.Folder == "" {
		slices.Sort(described)
		switch described = slices.Compact(described); len(described) {
		case 0:
			return nil, fmt.Errorf("no folder of the files has a %s; a package has %s", nq320k.MetadataFile, strings.Join(nq320k.Files(), ", "))
		case 1:
			folder = described[0]
		default:
			return nil, fmt.Errorf("several folders have a %s: name one as folder (%s)", nq320k.MetadataFile, strings.Join(described, ", "))
		}
	}
	for _, name := range nq320k.Files() {
		if _, ok := folders[folder][name]; !ok {
			return nil, fmt.Errorf("%s is missing; a package has %s", path.Join(folder, name), strings.Join(nq320k.Files(), ", "))
		}
	}
	return folders[folder], nil
}

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
