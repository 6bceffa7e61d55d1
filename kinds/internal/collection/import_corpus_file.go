package collection

import (
	"context"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importFileConfig is one file of documents. Its name is in errors and in the report, and so in the key.
type importFileConfig struct {
	importing
	File step.Input `hcl:"file" help:"documents"`
	Name string     `hcl:"name" help:"file name, for errors"`
}

var importFile = step.DefinePart(step.Kind[importFileConfig]{
	Name:    "import_corpus_file",
	Version: 3,
	Doc:     "One file of documents of an import_corpus step.",
	Outputs: []step.Output{
		{Name: "kept", Type: "import/documents", Help: "the documents that may be taken, as JSON lines, compressed with zstd"},
		{Name: "report", Type: "report", Help: "importFileReport as JSON"},
	},
	Run: runImportFile,
})

type importFileReport struct {
	File      collect.FileReport      `json:"file"`
	Documents collect.DocumentsReport `json:"documents"`
}

// splitImportCorpus makes a part of each file of documents, if documents are left out.
func splitImportCorpus(ctx context.Context, x *step.IO, c importCorpusConfig) ([]step.Task, error) {
	if c.Keep == string(collect.KeepAll) && c.Limit[limitDocuments] == 0 {
		return nil, nil
	}
	files, err := c.files(ctx, x)
	if err != nil {
		return nil, step.Permanent(err)
	}
	part := importFileConfig{importing: c.importing}
	part.Documents = nil
	var parts []importFileConfig
	for _, f := range files {
		if f.Role != collect.Documents {
			continue
		}
		part.File, part.Name = step.In(artifacts.Artifact{Type: "file", Digest: f.file.Digest, Size: f.file.Size}), f.file.Name
		parts = append(parts, part)
	}
	return inout.Tasks(importFile, parts)
}

// runImportFile reads all queries, and keeps the file's documents that may be taken.
func runImportFile(ctx context.Context, x *step.IO, c importFileConfig) error {
	files, err := c.collected(ctx, x)
	if err != nil {
		return step.Permanent(err)
	}
	i := &corpusImport{ctx: ctx, x: x, c: c.importing}
	questions, err := i.questions(c.options(), files)
	if err != nil {
		return err
	}
	coll := collect.NewCollection(questions)
	var report importFileReport
	kept := int64(0)
	err = inout.WriteLines(x, "kept", func(put func(any) error) error {
		file := i.counted(artifacts.File{Name: c.Name, Digest: c.File.Artifact.Digest, Size: c.File.Artifact.Size})
		var err error
		report.File, err = coll.Sift(ctx, file, c.reading(collect.Documents), func(d collect.Sifted) error {
			kept++
			return put(&d)
		})
		return readError(err)
	})
	if err != nil {
		return err
	}
	report.Documents = coll.Report
	return inout.WriteReport(x, report, map[string]int{"documents": int(report.Documents.Lines.Records), "kept": int(kept)})
}
