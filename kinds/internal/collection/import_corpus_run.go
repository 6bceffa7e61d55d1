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
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// importFile is a file with what it is.
type importFile struct {
	collect.Part
	file artifacts.File
}

// files lists what is read: queries, then judgments, then documents.
func (c importCorpusConfig) files(x *step.IO) ([]importFile, error) {
	var all []importFile
	for n, in := range c.Files {
		found, err := c.arranged(x.Files(in, fmt.Sprintf("files-%02d", n)))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	for _, s := range c.sources() {
		for n, in := range s.inputs {
			for _, f := range c.those(s, x.Files(in, fmt.Sprintf("%s-%02d", s.attribute, n))) {
				all = append(all, importFile{collect.Part{Role: s.role, Split: s.split}, f})
			}
		}
		if len(s.inputs) > 0 && !slices.ContainsFunc(all, func(f importFile) bool { return f.Role == s.role }) {
			return nil, fmt.Errorf("%s: none of the files given is one; name it with pick", s.attribute)
		}
	}
	slices.SortStableFunc(all, func(a, b importFile) int { return a.Compare(b.Part) })
	if len(all) == 0 || all[len(all)-1].Role != collect.Documents {
		return nil, errors.New("there are no documents among the files")
	}
	return all, nil
}

// arranged are the files of a tree that has all roles.
func (c importCorpusConfig) arranged(files []artifacts.File) ([]importFile, error) {
	var all []importFile
	if len(c.Pick) > 0 {
		for _, f := range files {
			for _, s := range c.sources() {
				if c.picked(s.attribute, f.Name) {
					all = append(all, importFile{collect.Part{Role: s.role, Split: s.split}, f})
				}
			}
		}
		return all, nil
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	parts, err := collect.Arrange(names, c.Folder)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if p, ok := parts[f.Name]; ok {
			all = append(all, importFile{p, f})
		}
	}
	return all, nil
}

// picked reports that a pattern of an attribute is a file's name, or the last part of it.
func (c importCorpusConfig) picked(attribute, name string) bool {
	return slices.ContainsFunc(c.Pick[attribute], func(pattern string) bool {
		whole, _ := path.Match(pattern, name)
		last, _ := path.Match(pattern, path.Base(name))
		return whole || last
	})
}

// those are the files of one input that are meant by an attribute: the picked ones, or those
// whose names say it, or else those whose names say nothing.
func (c importCorpusConfig) those(s importSource, files []artifacts.File) []artifacts.File {
	if len(files) == 1 {
		return files
	}
	var said, silent []artifacts.File
	for _, f := range files {
		p, known := collect.PartOf(f.Name)
		switch {
		case len(c.Pick[s.attribute]) > 0:
			if c.picked(s.attribute, f.Name) {
				said = append(said, f)
			}
		case known && p.Role == s.role && (p.Split == "" || s.split == "" || p.Split == s.split):
			said = append(said, f)
		case !known:
			silent = append(silent, f)
		}
	}
	if said != nil || len(c.Pick[s.attribute]) > 0 {
		return said
	}
	return silent
}

// corpusImport is one run of an import_corpus step.
type corpusImport struct {
	ctx    context.Context
	x      *step.IO
	c      importCorpusConfig
	report importCorpusReport
}

func (i *corpusImport) file(f artifacts.File) collect.File {
	return collect.File{Name: f.Name, Size: f.Size,
		Open: func() (io.ReadCloser, error) { return i.x.OpenFile(f) },
		Path: func() (string, error) { return i.x.Path(f.Digest) }}
}

// add takes the report of a file that was read.
func (i *corpusImport) add(r collect.FileReport, err error) error {
	i.report.Files = append(i.report.Files, r)
	if unwritten := (*collect.Unwritten)(nil); errors.As(err, &unwritten) {
		return unwritten.Err // the disk's or the store's, which another attempt may not meet
	}
	return inout.DataError(err)
}

// documents reads them once, and writes each as it comes.
func (i *corpusImport) documents(coll *collect.Collection, files []importFile) error {
	w, err := i.x.Create("documents")
	if err != nil {
		return err
	}
	err = dedup.WriteLines(w, func(put func(any) error) error {
		return writeCorpus(i.x, func(texts *corpus.Writer) error {
			for _, f := range files {
				if f.Role != collect.Documents {
					continue
				}
				file := i.file(f.file)
				open := file.Open
				file.Open = func() (io.ReadCloser, error) { return i.counted(open, f.file) }
				err := i.add(coll.ReadDocuments(i.ctx, file, i.c.reading(f.Role), func(d *collect.Document) error {
					return errors.Join(put(&d.Document), texts.Write(corpus.Document{Doc: d.Doc, Title: d.Title, Text: d.Text}))
				}))
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	return errors.Join(err, w.Close())
}

// counted reports how far a file was read.
func (i *corpusImport) counted(open func() (io.ReadCloser, error), f artifacts.File) (io.ReadCloser, error) {
	in, err := open()
	if err != nil {
		return nil, err
	}
	seen := func(n int64) {
		i.x.Report(step.Progress{Done: n, Total: f.Size, Unit: "bytes", Note: f.Name})
	}
	return struct {
		io.Reader
		io.Closer
	}{readers.Counted(in, seen), in}, nil
}

func (i *corpusImport) queries(coll *collect.Collection) error {
	w, err := i.x.Create("queries")
	if err != nil {
		return err
	}
	err = dedup.WriteLines(w, func(put func(any) error) error {
		return coll.EachQuery(func(q *dedup.Query) error { return put(q) })
	})
	return errors.Join(err, w.Close())
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

// reports writes counts and report, and shows with the result what was left out.
func (i *corpusImport) reports(coll *collect.Collection, questions *collect.Questions) error {
	r := &i.report
	r.Documents, r.QuestionsReport = coll.Report, questions.Report
	counts := dedupCounts{Documents: dedup.Counts{Train: int(r.Train.Targets), Dev: int(r.Dev.Targets), Test: int(r.Test.Targets), Union: int(r.Documents.Union)},
		Coverage: dedup.CoverageOf(func(yield func(train, dev int32) bool) {
			coll.Targets(func(train, dev, _ int32) bool { return yield(train, dev) })
		})}
	coll.Targets(func(train, dev, test int32) bool {
		counts.Records.Train += int(train)
		counts.Records.Dev += int(dev)
		counts.Records.Test += int(test)
		return true
	})
	counts.Records.Union = counts.Records.Train + counts.Records.Dev + counts.Records.Test
	r.count(i.x)
	return errors.Join(inout.WriteJSON(i.x, "counts", counts), inout.WriteJSON(i.x, "report", r))
}

func (r *importCorpusReport) count(x *step.IO) {
	shown := map[string]int64{
		"documents_empty": r.Documents.Empty, "documents_dropped": r.Documents.Dropped, "documents_unjudged": r.Documents.Unjudged,
		"documents_without_title": r.Documents.Untitled, "judgments_without_query": r.Unknown, "repeated_judgments": r.Repeated,
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
