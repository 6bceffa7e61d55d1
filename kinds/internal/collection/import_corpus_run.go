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
	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runImportCorpus(ctx context.Context, x *step.IO, c importCorpusConfig) error {
	files, err := c.files(ctx, x)
	if err != nil {
		return step.Permanent(err)
	}
	if rest := strings.TrimPrefix(c.unused(x, files), "; "); rest != "" {
		x.Log.Info(rest)
	}
	options := c.options()
	if c.Key == collect.NormalizedTitle {
		if options.Normalize, err = bertNormalize(x, c.Tokenizer, "tokenizer"); err != nil {
			return err
		}
	}
	i := &corpusImport{ctx: ctx, x: x, c: c.importing}
	questions, err := i.questions(options, files)
	if err != nil {
		return err
	}
	coll := collect.NewCollection(questions)
	if err := i.documents(coll, files); err != nil {
		return err
	}
	if err := coll.Finish(); err != nil {
		return step.Permanent(fmt.Errorf("%w%s", err, c.unused(x, files)))
	}
	queries := func(put func(any) error) error {
		return coll.EachQuery(func(q *dedup.Query) error { return put(q) })
	}
	return errors.Join(inout.WriteLines(x, "queries", queries), i.qrels(coll), i.reports(coll, questions))
}

type collectedFile struct {
	collect.Part
	file artifacts.File
}

// files lists what is read: queries, then judgments, then documents. Without documents it fails.
func (c importing) files(ctx context.Context, x *step.IO) ([]collectedFile, error) {
	all, err := c.collected(ctx, x)
	if err == nil && (len(all) == 0 || all[len(all)-1].Role != collect.Documents) {
		err = fmt.Errorf("there are no documents among the files%s", c.unused(x, all))
	}
	return all, err
}

// unused says which files of trees have no role; "" if there are none.
func (c importing) unused(x *step.IO, used []collectedFile) string {
	files := inout.Files(x, c.Files, func(n int) string { return fmt.Sprintf("files-%02d", n) })
	names := lists.Filter(inout.Names(files), func(name string) bool {
		return !slices.ContainsFunc(used, func(u collectedFile) bool { return u.file.Name == name })
	})
	if names == nil {
		return ""
	}
	return fmt.Sprintf("; not used, as their names do not say what they are: %s; say it by pick", words.Quoted(names, 12))
}

func (c importing) collected(ctx context.Context, x *step.IO) ([]collectedFile, error) {
	var all []collectedFile
	for n, in := range c.Files {
		found, err := c.arranged(ctx, x, x.Files(in, fmt.Sprintf("files-%02d", n)))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	for _, s := range c.sources() {
		for n, in := range s.inputs {
			for _, f := range c.meant(ctx, x, s, x.Files(in, fmt.Sprintf("%s-%02d", s.attribute, n))) {
				all = append(all, collectedFile{collect.Part{Role: s.role, Split: s.split}, f})
			}
		}
		if len(s.inputs) > 0 && !slices.ContainsFunc(all, func(f collectedFile) bool { return f.Role == s.role }) {
			return nil, fmt.Errorf("%s: none of the given files is one by its name; name them with pick", s.attribute)
		}
	}
	slices.SortStableFunc(all, func(a, b collectedFile) int { return a.Compare(b.Part) })
	return all, nil
}

// arranged returns the files of a tree that has all roles: the picked files, and the others whose names say their role.
func (c importing) arranged(ctx context.Context, x *step.IO, files []artifacts.File) ([]collectedFile, error) {
	var all []collectedFile
	var names []string
	byName := map[string]artifacts.File{}
	documents := false
	for _, f := range files {
		picked := false
		for _, s := range c.sources() {
			if c.picked(s.attribute, f.Name) {
				all = append(all, collectedFile{collect.Part{Role: s.role, Split: s.split}, f})
				picked, documents = true, documents || s.role == collect.Documents
			}
		}
		if !picked {
			names, byName[f.Name] = append(names, f.Name), f
		}
	}
	parts, err := collect.Arrange(names, c.Folder, documents, func(name string) bool { return judges(ctx, x, byName[name]) })
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if p, ok := parts[f.Name]; ok {
			all = append(all, collectedFile{p, f})
		}
	}
	return all, nil
}

func judges(ctx context.Context, x *step.IO, f artifacts.File) bool {
	return collect.Judges(ctx, (&corpusImport{x: x}).file(f))
}

// picked reports whether a pattern of an attribute matches a file's name, or the last part of it.
func (c importing) picked(attribute, name string) bool {
	return slices.ContainsFunc(c.Pick[attribute], func(pattern string) bool {
		full, _ := path.Match(pattern, name)
		last, _ := path.Match(pattern, path.Base(name))
		return full || last
	})
}

// meant returns the files of an input that belong to an attribute: the picked files or, without pick, the files whose
// names say so, else the files whose names say nothing.
func (c importing) meant(ctx context.Context, x *step.IO, s importSource, files []artifacts.File) []artifacts.File {
	if len(files) == 1 {
		return files
	}
	var said, silent []artifacts.File
	for _, f := range files {
		p, says := collect.PartIn(f.Name, func(string) bool { return judges(ctx, x, f) })
		switch {
		case len(c.Pick[s.attribute]) > 0:
			if c.picked(s.attribute, f.Name) {
				said = append(said, f)
			}
		case says && p.Role == s.role && (p.Split == "" || s.split == "" || p.Split == s.split):
			said = append(said, f)
		case !says:
			silent = append(silent, f)
		}
	}
	if said != nil || len(c.Pick[s.attribute]) > 0 {
		return said
	}
	return silent
}

type corpusImport struct {
	ctx    context.Context
	x      *step.IO
	c      importing
	report importCorpusReport
}

func (i *corpusImport) file(f artifacts.File) collect.File {
	return collect.File{Name: f.Name,
		Open: func() (io.ReadCloser, error) { return i.x.OpenFile(f) },
		Path: func() (string, error) { return i.x.Path(f.Digest) }}
}

// add adds the report of a file that was read; for documents, parts have theirs.
func (i *corpusImport) add(r collect.FileReport, err error) error {
	if r.Role != collect.Documents || len(i.x.Parts()) == 0 {
		i.report.Files = append(i.report.Files, r)
	}
	return readError(err)
}

// readError marks an error of the data; an error of writing, the disk's or the store's, another attempt may not meet.
func readError(err error) error {
	if unwritten, ok := errors.AsType[*collect.Unwritten](err); ok {
		return unwritten.Err
	}
	return inout.DataError(err)
}

func (i *corpusImport) questions(o collect.Options, files []collectedFile) (*collect.Questions, error) {
	questions := collect.NewQuestions(o)
	for _, f := range files {
		var err error
		switch f.Role {
		case collect.Queries:
			err = i.add(questions.ReadQueries(i.ctx, i.file(f.file), i.c.reading(f.Role), f.Split))
		case collect.Judgments:
			err = i.add(questions.ReadJudgments(i.ctx, i.file(f.file), i.c.reading(f.Role), f.Split))
		}
		if err != nil {
			return nil, err
		}
	}
	questions.Settle()
	return questions, nil
}

// documents reads documents, or what parts kept, and writes each as it comes or, of a collection that is complete only
// when all have been read, in a second reading.
func (i *corpusImport) documents(coll *collect.Collection, files []collectedFile) error {
	list, how, err := i.documentFiles(coll, files)
	if err != nil {
		return err
	}
	if coll.Twice() {
		for _, f := range list {
			if err := i.add(coll.Gather(i.ctx, f, how)); err != nil {
				return err
			}
		}
		coll.Number()
	}
	return inout.WriteLines(i.x, "documents", func(put func(any) error) error {
		return writeCorpus(i.x, func(texts *corpus.Writer) error {
			write := func(d *collect.Document) error {
				return errors.Join(put(&d.Document), texts.Write(corpus.Document{Doc: d.Doc, Title: d.Title, Text: d.Text}))
			}
			for _, f := range list {
				if coll.Twice() {
					if err := readError(coll.Rewrite(i.ctx, f, how, write)); err != nil {
						return err
					}
					continue
				}
				if err := i.add(coll.ReadDocuments(i.ctx, f, how, write)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// documentFiles returns the files of documents, or what parts kept of each, and how they are read.
func (i *corpusImport) documentFiles(coll *collect.Collection, files []collectedFile) (list []collect.File, how collect.Reading, err error) {
	how = i.c.reading(collect.Documents)
	for _, f := range files {
		if f.Role != collect.Documents {
			continue
		}
		if parts := i.x.Parts(); len(parts) > 0 {
			part := parts[len(list)]
			var said importFileReport
			if err := inout.ReadJSON(i.x, step.In(part.Outputs["report"]), &said); err != nil {
				return nil, how, err
			}
			i.report.Files = append(i.report.Files, said.File)
			coll.Join(said.Documents)
			kept := part.Outputs["kept"]
			f.file = artifacts.File{Name: f.file.Name, Digest: kept.Digest, Size: kept.Size}
			how = collect.Reading{Format: collect.JSONL}
		}
		list = append(list, i.counted(f.file))
	}
	return list, how, nil
}

// counted returns a file that reports how far it has been read.
func (i *corpusImport) counted(f artifacts.File) collect.File {
	file := i.file(f)
	file.Open = func() (io.ReadCloser, error) {
		in, err := i.x.OpenFile(f)
		if err != nil {
			return nil, err
		}
		seen := func(n int64) {
			i.x.Report(step.Progress{Done: n, Total: f.Size, Unit: "bytes", Note: f.Name})
		}
		return readers.Closing(readers.Counted(in, seen), in), nil
	}
	return file
}

func (i *corpusImport) qrels(coll *collect.Collection) error {
	for _, split := range collect.Splits() {
		judged, err := coll.Qrels(split)
		if err != nil {
			return step.Permanent(err)
		}
		if err := inout.Write(i.x, string(split)+"_qrels", judged.Write); err != nil {
			return err
		}
	}
	return nil
}

// reports writes counts and report, and counts what was left out.
func (i *corpusImport) reports(coll *collect.Collection, questions *collect.Questions) error {
	r := &i.report
	r.Documents, r.QuestionsReport = coll.Report, questions.Report
	counts := dedupCounts{Documents: dedup.Counts{Train: int(r.Train.Targets), Dev: int(r.Dev.Targets), Test: int(r.Test.Targets), Union: int(r.Documents.Union)},
		Coverage: dedup.CoverageOf(func(yield func(train, dev int32) bool) {
			coll.Targets(func(n [3]int32) bool { return yield(n[0], n[1]) })
		})}
	for n := range coll.Targets {
		counts.Records.Train += int(n[0])
		counts.Records.Dev += int(n[1])
		counts.Records.Test += int(n[2])
	}
	counts.Records.Union = counts.Records.Train + counts.Records.Dev + counts.Records.Test
	r.count(i.x)
	return errors.Join(inout.WriteJSON(i.x, "counts", counts), inout.WriteJSON(i.x, "report", r))
}

func (r *importCorpusReport) count(x *step.IO) {
	shown := map[string]int64{
		"documents_empty": r.Documents.Empty, "documents_dropped": r.Documents.Dropped, "documents_unjudged": r.Documents.Unjudged,
		"documents_without_title": r.Documents.Untitled, "documents_merged": r.Documents.Merged, "judgments_without_query": r.Unknown, "repeated_judgments": r.Repeated,
		"queries_without_judgment": r.Unjudged, "queries_of_no_split": r.Assumed,
		"skipped_records": r.Documents.Lines.SkippedTotal() + r.Queries.SkippedTotal() + r.Judgments.SkippedTotal(),
	}
	for _, split := range collect.Splits() {
		s := r.Of(split)
		name := func(what string) string { return string(split) + "_" + strings.ReplaceAll(what, " ", "_") }
		shown[name("queries")] = s.Asked
		shown[name("judgments_without_document")] = s.Missing
		shown[name("judgments_of_dropped_documents")] = s.Dropped
		shown[name("queries_without_document")] = s.Documentless
		shown[name("queries_without_judgment")] = s.Unjudged
		shown[name("queries_in_train_too")] = s.InTrain
	}
	for name, n := range shown {
		if n > 0 {
			x.Count(name, n)
		}
	}
}

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
