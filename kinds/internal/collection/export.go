package collection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/export"
	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type exportConfig struct {
	Documents   step.Input            `hcl:"documents" accepts:"nq/documents" help:"collection"`
	Queries     step.Input            `hcl:"queries" accepts:"nq/queries" help:"its queries"`
	Corpus      step.Input            `hcl:"corpus,optional" accepts:"nq/corpus" help:"texts of the documents; default: none"`
	Report      step.Input            `hcl:"report,optional" accepts:"report" help:"report of the serialize step that wrote the texts; the card lists its options"`
	Identifiers map[string]step.Input `hcl:"identifiers,optional" accepts:"docid/ids" help:"identifiers of the documents by type, such as naive"`
	Qrels       step.Inputs           `hcl:"qrels,added" accepts:"trec/qrels" help:"judgments by number of all splits, including documents that are not relevant, as import_corpus writes them; default: the queries' own"`
	Counts      step.Inputs           `hcl:"counts,optional" accepts:"dedup/counts" help:"counts of the operators that the dataset card lists, with labels"`
	Labels      []string              `hcl:"labels,optional" help:"labels of the counts"`
	Formats     []export.Format       `hcl:"formats,optional" enum:"jsonl,parquet,trec,beir,redsi,croissant" help:"what is written; redsi is the layout in which NQ320K was published, which has no simplenorm of ours and names documents by number; croissant describes the files and records of the others"`
	IDs         string                `hcl:"ids,optional" enum:"number,key" help:"how documents and queries are named: by number, or by the names that they have outside redsi, with white space changed"`
	Name        string                `hcl:"name" help:"name of the dataset, such as NQ320K-PageID"`
	Key         string                `hcl:"key" help:"deduplication key that made the collection"`
	Form        string                `hcl:"form,optional" help:"serialization of the texts"`
	Settings    map[string]string     `hcl:"settings,optional" help:"what else the card says about how it was made, by name"`
	Command     string                `hcl:"command,optional" help:"command that rebuilds it, for the card"`
	Origin      string                `hcl:"origin,optional" enum:"natural_questions,generated,other" help:"where questions and texts come from; the card states licence and language accordingly"`
	Language    string                `hcl:"language,added" help:"language of questions and texts for the card, as the hub writes it: de, zh; default: en, and none for origin other"`
}

var Export = step.Define(step.Kind[exportConfig]{
	Name:    "export",
	Version: 5,
	Doc: `Write a collection as JSONL, Parquet, TREC topics and qrels, and BEIR, with a dataset card.
The format redsi is the layout in which NQ320K was published: data/STYLE/KEY, which kind
package reads. With identifiers, every document's are written too. A split without queries
has no files, except in redsi, which has no test split. With croissant, croissant.json
describes files, documents, queries and judgements (beir's) in that vocabulary, version 1.0.
The card is one of a repository of data sets: each of its
configurations can be loaded by name. With ids = "key", white space and control characters
of ASCII in names are _, as export_run writes them; two names that become one are an error.
Reads each input once, for redsi the queries twice;
memory is bounded by the names of the documents, and for redsi by their examples.`,
	Example: `step "export" "page_id" {
  documents   = step.dedup.nq["page_id"].documents
  queries     = step.dedup.nq["page_id"].queries
  corpus      = step.serialize.html_norm.corpus
  report      = step.serialize.html_norm.report
  identifiers = { naive = step.naive_ids.page_id.ids }
  formats     = ["jsonl", "parquet", "trec", "beir", "redsi", "croissant"]
  name        = "NQ320K-PageID"
  key         = "page_id"
  form        = "htmlnorm"
}`,
	Outputs:  []step.Output{{Name: "files", Type: "hub/dataset", Tree: true, Help: "one folder per format, identifiers, and README.md"}},
	Defaults: exportConfig{Formats: []export.Format{"jsonl", "parquet", "trec", "beir"}, IDs: "number", Origin: string(export.NaturalQuestions)},
	Check: inout.Checks(func(c exportConfig, ps *step.Problems) {
		inout.Check(ps, "language", export.LanguageTag.MatchString(c.Language), "%q is not a code such as de, zh or pt-BR", c.Language)
		inout.Check(ps, "labels", len(c.Labels) == len(c.Counts), "has %d labels for %d counts", len(c.Labels), len(c.Counts))
		_, err := exportedKey(c.Key)
		inout.CheckError(ps, "key", err)
		for _, name := range slices.Sorted(maps.Keys(c.Identifiers)) {
			inout.CheckError(ps, "identifiers", export.CheckIdentifiers(name))
		}
		records := c.has(export.Parquet) || c.has(export.JSONL)
		inout.Check(ps, "formats", !c.has(export.Croissant) || records, "croissant describes the records of parquet or jsonl: add one of them")
		if c.has(export.Redsi) {
			_, err := nq320k.VariantOf(c.Form, c.Key)
			inout.Check(ps, "formats", err == nil, "redsi: %v", err)
			inout.Check(ps, "corpus", c.Corpus.Set(), "is needed by format redsi")
			inout.Check(ps, "ids", c.IDs == string(export.ByNumber), "format redsi names documents by number")
		}
	}),
	Run: runExport,
})

func (c exportConfig) has(f export.Format) bool { return slices.Contains(c.Formats, f) }

// exportedKey looks up a key of kind dedup or import_corpus.
func exportedKey(name string) (collect.Key, error) {
	for _, k := range collect.Keys() {
		if k.Name == name {
			return k, nil
		}
	}
	k, err := dedup.Lookup(name)
	if err != nil {
		return collect.Key{}, fmt.Errorf("%w; of imported documents, %s and %s", err, collect.Exact, collect.NormalizedTitle)
	}
	return collect.Key{Name: k.Name, Label: k.Label, Doc: k.Doc}, nil
}

func runExport(_ context.Context, x *step.IO, c exportConfig) error {
	documents, err := x.Open(c.Documents)
	if err != nil {
		return err
	}
	defer documents.Close()
	queries, err := x.Open(c.Queries)
	if err != nil {
		return err
	}
	defer queries.Close()
	g := export.Grouping{Documents: documents, Queries: queries, IDs: export.IDs(c.IDs), Identifiers: map[string]*docid.Set{}}
	var done func()
	if g.Text, done, err = corpusTexts(x, c.Corpus); err != nil {
		return err
	}
	defer done()
	for name, in := range c.Identifiers {
		if g.Identifiers[name], err = inout.ReadIDs(x, in); err != nil {
			return err
		}
	}
	for i, in := range c.Qrels {
		if i == 0 {
			g.Judgments = &trec.Judgments{}
		}
		if err := inout.Scan(x, in, fmt.Sprintf("qrels %d", i+1), g.Judgments.Read); err != nil {
			return err
		}
	}
	if c.has(export.Redsi) {
		g.Variant, _ = nq320k.VariantOf(c.Form, c.Key)                                     // checked
		if g.Examples, err = inout.Read(x, c.Queries, "", export.ExamplesOf); err != nil { // a first pass
			return err
		}
	}
	card, err := c.card(x)
	if err != nil {
		return err
	}
	formats := lists.Filter(c.Formats, func(f export.Format) bool { return f != export.Croissant })
	create := func(name string) (io.WriteCloser, error) { return x.CreateFile("files", name) }
	sum, err := export.Write(export.FromGrouping(g), formats, create)
	if err != nil {
		return inout.DataError(err)
	}
	if c.has(export.Croissant) {
		if err := export.WriteCroissant(create, card, &sum); err != nil {
			return err
		}
	}
	inout.Count(x, map[string]int{"documents": sum.Documents, "queries": sum.Train + sum.Dev + sum.Test,
		"documents_without_text": sum.Documents - sum.Texts, "respaced": sum.Respaced, "names_changed": sum.Renamed, "escaped_topics": sum.Escaped})
	return inout.WriteFile(x, "files", "README.md", func(w io.Writer) error { return export.WriteCard(w, card, sum) })
}

func (c exportConfig) card(x *step.IO) (export.Card, error) {
	k, _ := exportedKey(c.Key) // checked
	card := export.Card{Name: c.Name, Key: k.Label, KeyDoc: k.Doc, Serializer: c.Form, Origin: export.Origin(c.Origin), Language: c.Language, Command: c.Command}
	for i, in := range c.Counts {
		var n dedupCounts
		if err := inout.ReadJSON(x, in, &n); err != nil {
			return card, err
		}
		card.Counts = append(card.Counts, export.KeyCount{Key: c.Labels[i], Train: n.Documents.Train, Dev: n.Documents.Dev, Union: n.Documents.Union})
		if n.Resolved != nil && c.Labels[i] == k.Label {
			card.Unresolved = n.Resolved.UnresolvedRecords
		}
	}
	card.Settings = append(card.Settings, export.Setting{Name: "key", Value: c.Key})
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		card.Settings = append(card.Settings, export.Setting{Name: name, Value: c.Settings[name]})
	}
	options, err := c.options(x)
	if err != nil {
		return card, err
	}
	card.Settings = append(card.Settings, options...)
	for _, in := range []struct {
		name string
		step.Input
	}{{"documents", c.Documents}, {"queries", c.Queries}, {"corpus", c.Corpus}} {
		if in.Set() {
			card.Sources = append(card.Sources, export.Setting{Name: in.name, Value: in.Artifact.Digest.String()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Identifiers)) {
		card.Sources = append(card.Sources, export.Setting{Name: "identifiers, " + name, Value: c.Identifiers[name].Artifact.Digest.String()})
	}
	return card, nil
}

// options returns the options of the serializer as JSON, by name.
func (c exportConfig) options(x *step.IO) ([]export.Setting, error) {
	if !c.Report.Set() {
		return nil, nil
	}
	var r struct {
		Form    string
		Options map[string]json.RawMessage
	}
	if err := inout.ReadJSON(x, c.Report, &r); err != nil {
		return nil, err
	}
	if r.Form == "" || r.Form != c.Form {
		return nil, step.Permanent(fmt.Errorf("the report comes from a serialize step with form %q, the export says %q", r.Form, c.Form))
	}
	list := []export.Setting{{Name: "form", Value: r.Form}}
	for _, name := range slices.Sorted(maps.Keys(r.Options)) {
		var b bytes.Buffer
		if err := json.Compact(&b, r.Options[name]); err != nil {
			return nil, step.Permanent(err)
		}
		list = append(list, export.Setting{Name: "form option " + name, Value: b.String()})
	}
	return list, nil
}

// corpusTexts returns a function for the text of each document, asked for in order, and a function that closes it.
func corpusTexts(x *step.IO, in step.Input) (func(*dedup.Document) (string, error), func(), error) {
	if !in.Set() {
		return nil, func() {}, nil
	}
	r, done, err := inout.OpenCorpus(x, in)
	if err != nil {
		return nil, nil, err
	}
	var at corpus.Document
	at.Doc = -1
	return func(d *dedup.Document) (string, error) {
		for at.Doc < d.Doc {
			var err error
			if at, err = r.Next(); errors.Is(err, io.EOF) {
				return "", fmt.Errorf("the corpus ends before it")
			} else if err != nil {
				return "", err
			}
		}
		if at.Doc != d.Doc {
			return "", nil
		}
		return at.Text, nil
	}, done, nil
}

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

func packageFiles(x *step.IO, c packageConfig) (map[string]artifacts.File, error) {
	folders := map[string]map[string]artifacts.File{}
	for _, f := range inout.Files(x, c.Files, inout.Called("file")) {
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
	}
	folder := strings.Trim(c.Folder, "/")
	if c.Folder == "" {
		maps.DeleteFunc(folders, func(_ string, files map[string]artifacts.File) bool { return files[nq320k.MetadataFile].Name == "" })
		switch described := slices.Sorted(maps.Keys(folders)); len(described) {
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
	Run: func(_ context.Context, x *step.IO, c comparePackageConfig) error {
		theirs := side(x, c.PackageDocuments, c.PackageQueries, c.PackageCorpus)
		report, err := nq320k.Compare(side(x, c.Documents, c.Queries, c.Corpus), theirs, c.Examples)
		if err != nil {
			return inout.DataError(err)
		}
		d, q := report.Documents, report.Queries
		return inout.WriteReport(x, report, map[string]int{"pairs": d.Pairs, "unpaired_ours": d.Ours - d.Pairs,
			"unpaired_package": d.Package - d.Pairs, "other_texts": d.Pairs - report.Texts.Same,
			"other_titles": report.Titles.Differ, "other_numbers": d.Pairs - d.SameNumber, "other_targets": q.OtherTarget})
	},
})

func side(x *step.IO, documents, queries, texts step.Input) nq320k.Collection {
	return nq320k.Collection{
		Documents: func() (io.ReadCloser, error) { return x.Open(documents) },
		Queries:   func() (io.ReadCloser, error) { return x.Open(queries) },
		Corpus:    func() (*corpus.Reader, func(), error) { return inout.OpenCorpus(x, texts) },
	}
}
