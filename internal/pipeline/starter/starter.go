// Package starter owns the studies that people start from: a small one, the first steps of the ReDSI paper, and a retrieval
// study on a corpus of their own, whose files it reads first. It must not know what a study means once it is written.
package starter

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
)

// The studies that need no corpus.
const (
	Small = "study" // a program that is run with several seeds
	Paper = "nq"    // the first steps of the ReDSI paper, on a generated corpus
)

// starters has a folder of files for each study.
//
//go:embed study nq corpus
var starters embed.FS

// ignored is what belongs to one machine or can be rebuilt.
const ignored = ".redsi/\n.redsi.lock.lock\nresults/\n" + syntax.LocalFile + "\n"

// Files are the files of Small or Paper by name.
func Files(name string) (map[string][]byte, error) {
	sub, err := fs.Sub(starters, name)
	if err != nil {
		return nil, err
	}
	return From(sub)
}

func From(tree fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[p], err = fs.ReadFile(tree, p)
		}
		return err
	})
	return files, err
}

// Write writes files into a folder, all or none, and returns their names. Only what git ignores may exist already.
func Write(files map[string][]byte, dir string) ([]string, error) {
	names := slices.Sorted(maps.Keys(files))
	for _, n := range names {
		if exists(filepath.Join(dir, n)) {
			return nil, fault.Input(fmt.Errorf("%s already exists; init does not overwrite files", filepath.Join(dir, n)))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.Input(err)
	}
	if ignore := filepath.Join(dir, ".gitignore"); !exists(ignore) {
		names = append(names, ".gitignore")
		files[".gitignore"] = []byte(ignored)
	}
	var wrote []string
	for _, n := range names {
		file := filepath.Join(dir, n)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = writeNew(file, files[n])
		}
		if errors.Is(err, fs.ErrExist) {
			return nil, fault.Input(fmt.Errorf("%s already exists; init does not overwrite files", file))
		}
		if err != nil {
			return nil, err
		}
		wrote = append(wrote, file)
	}
	return wrote, nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

type Corpus struct {
	Folder    string                   `json:"folder"`
	Files     []collect.FileReport     `json:"files"`
	Documents collect.DocumentsReport  `json:"documents"`
	Questions *collect.QuestionsReport `json:"queries"`
	Splits    string                   `json:"splits"` // where they come from

	plan splitPlan
	list []corpusFile
}

type corpusFile struct {
	collect.Part
	name string // below the folder, with slashes
}

// Find reads the files of a folder as the study's import_corpus will, and finds errors before anything is written.
func Find(ctx context.Context, folder string) (*Corpus, error) {
	c := &Corpus{Folder: folder}
	if err := c.look(ctx); err != nil {
		return nil, fault.Input(err)
	}
	_, q, err := c.readQuestions(ctx, splitPlan{})
	if err != nil {
		return nil, fault.Input(err)
	}
	has := func(s nq.Split) bool { return q.Report.Of(s).Queries > 0 }
	unsplit := q.Report.Assumed > 0
	c.plan = planSplits(has(nq.Train), has(nq.Dev), has(nq.Test) && !unsplit)
	c.Splits = c.plan.why
	if err := c.read(ctx); err != nil {
		return nil, fault.Input(err)
	}
	return c, nil
}

func (c *Corpus) look(ctx context.Context) error {
	var names []string
	top := c.Folder + string(filepath.Separator) // it may be a link
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != top && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := os.Stat(p) // follows links
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(c.Folder, p)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", c.Folder)
	}
	if err != nil {
		return err
	}
	parts, err := collect.Arrange(names, "", false, func(name string) bool { return collect.Judges(ctx, c.open(corpusFile{name: name})) })
	if err != nil {
		return fmt.Errorf("%s: no corpus found: %w\n  looked for documents (corpus, documents, docs, collection or passages), queries (queries, topics or "+
			"questions) and judgments\n  (qrels or judgments, with train, dev or test in their names), as .jsonl, .tsv, .csv, .txt, .trec, .xml or .parquet, "+
			"also compressed:\n  corpus.jsonl, queries.jsonl, qrels/test.tsv", c.Folder, err)
	}
	have := map[collect.Role]bool{}
	for _, name := range names {
		if p, ok := parts[name]; ok {
			c.list = append(c.list, corpusFile{p, name})
			have[p.Role] = true
		}
	}
	if !have[collect.Queries] {
		return fmt.Errorf("%s: there are documents but no queries; looked for files named queries, topics or questions among: %s",
			c.Folder, strings.Join(names[:min(len(names), 8)], ", "))
	}
	return nil
}

func (c *Corpus) readQuestions(ctx context.Context, p splitPlan) ([]collect.FileReport, *collect.Questions, error) {
	q := collect.NewQuestions(collect.Options{Relevant: 1, Seed: 42, Form: collect.TitleContent, Draw: p.draw, DrawFrom: p.from})
	var reports []collect.FileReport
	for _, role := range []collect.Role{collect.Queries, collect.Judgments} {
		for _, f := range c.list {
			if f.Role != role {
				continue
			}
			read := q.ReadQueries
			if role == collect.Judgments {
				read = q.ReadJudgments
			}
			r, err := read(ctx, c.open(f), collect.Reading{Format: collect.Auto}, p.as(f))
			if err != nil {
				return nil, nil, err
			}
			reports = append(reports, r)
		}
	}
	q.Settle()
	return reports, q, nil
}

// read reads all files under the plan, and fails if the study could not train or test.
func (c *Corpus) read(ctx context.Context) error {
	files, q, err := c.readQuestions(ctx, c.plan)
	if err != nil {
		return err
	}
	coll := collect.NewCollection(q)
	for _, f := range c.list {
		if f.Role != collect.Documents {
			continue
		}
		r, err := coll.ReadDocuments(ctx, c.open(f), collect.Reading{Format: collect.Auto}, func(*collect.Document) error { return nil })
		if err != nil {
			return err
		}
		files = append(files, r)
	}
	if err := coll.Finish(); err != nil {
		return fmt.Errorf("%s: %w", c.Folder, err)
	}
	c.Files, c.Documents, c.Questions = files, coll.Report, &q.Report
	for _, s := range collect.Splits() {
		if q.Report.Of(s).Asked == 0 {
			return fmt.Errorf("%s: no %s query has a relevant document (%d train, %d dev, %d test queries; splits: %s); a study needs queries of each split",
				c.Folder, s, q.Report.Train.Asked, q.Report.Dev.Asked, q.Report.Test.Asked, c.Splits)
		}
	}
	return nil
}

func (c *Corpus) open(f corpusFile) collect.File {
	file := filepath.Join(c.Folder, filepath.FromSlash(f.name))
	return collect.File{Name: f.name,
		Open: func() (io.ReadCloser, error) { return os.Open(file) },
		Path: func() (string, error) { return file, nil }}
}

// input is an attribute of import_corpus with its files, for the template.
type input struct {
	Name  string
	Files []string
}

func (c *Corpus) inputs() ([]input, error) {
	files := map[string][]string{}
	for _, f := range c.list {
		name := map[collect.Role]string{collect.Documents: "documents", collect.Queries: "queries", collect.Judgments: "qrels"}[f.Role]
		if s := c.plan.as(f); s != "" && f.Role != collect.Documents {
			name = string(s) + "_" + name
		}
		for _, other := range files[name] {
			if path.Base(other) == path.Base(f.name) {
				return nil, fault.Input(fmt.Errorf("%s: %s and %s are both %s with the same name; rename one of them", c.Folder, other, f.name, name))
			}
		}
		files[name] = append(files[name], f.name)
	}
	order := []string{"documents", "queries", "train_queries", "dev_queries", "test_queries", "qrels", "train_qrels", "dev_qrels", "test_qrels"}
	given := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return slices.Index(order, a) - slices.Index(order, b)
	})
	return lists.Map(given, func(name string) input { return input{name, files[name]} }), nil
}

// Study makes the files of a study on the corpus that is to be written into a folder.
func (c *Corpus) Study(dir string) (map[string][]byte, error) {
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(c.Folder)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fault.Input(err)
	}
	at, err := filepath.Rel(from, to)
	if err != nil { // it is on another volume
		at = to
	}
	list, err := c.inputs()
	if err != nil {
		return nil, err
	}
	t, err := template.New("pipelines.hcl.tmpl").Funcs(template.FuncMap{"pad": func(n int, s string) string { return fmt.Sprintf("%-*s", n, s) },
		"quote": hclString}).ParseFS(starters, "corpus/*.tmpl")
	if err != nil {
		return nil, err
	}
	width := 0
	for _, in := range list {
		width = max(width, len(in.Name))
	}
	data := map[string]any{"Corpus": filepath.ToSlash(at), "Inputs": list, "Width": width, "Draw": c.plan.shares(), "From": c.plan.from,
		"Why": c.plan.why, "Documents": c.Documents.Union,
		"Train": c.Questions.Train.Asked, "Dev": c.Questions.Dev.Asked, "Test": c.Questions.Test.Asked}
	files := map[string][]byte{"tokenizers/t5-tokenizer.json.gz": tokenizers.T5, "tokenizers/ATTRIBUTION.md": tokenizers.Attribution}
	for _, tmpl := range t.Templates() {
		var b bytes.Buffer
		if err := tmpl.Execute(&b, data); err != nil {
			return nil, err
		}
		files[strings.TrimSuffix(tmpl.Name(), ".tmpl")] = b.Bytes()
	}
	return files, nil
}

// hclString is a text as an HCL literal. hclwrite would compose letters and accents, and so name a different file.
func hclString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{").Replace(s) + `"`
}

// splitPlan says how a collection gets the splits that its files lack: a study trains, chooses a checkpoint, and tests.
type splitPlan struct {
	become map[nq.Split]nq.Split // files of a split are used for another, or for none
	draw   map[nq.Split]float64
	from   nq.Split // "": what has no split
	why    string
}

// Shares to draw for a missing split.
const (
	devShare  = 0.1
	testShare = 0.2
	mostly    = 0.5 // for tests, if all queries are test queries
)

// planSplits decides from the splits that have queries.
func planSplits(train, dev, test bool) splitPlan {
	switch {
	case train && dev && test:
		return splitPlan{why: "as in the files"}
	case train && test:
		return splitPlan{draw: map[nq.Split]float64{nq.Dev: devShare}, from: nq.Train, why: "a tenth of the train queries, drawn at random, is used for development"}
	case train && dev:
		return splitPlan{become: map[nq.Split]nq.Split{nq.Dev: nq.Test}, draw: map[nq.Split]float64{nq.Dev: devShare}, from: nq.Train,
			why: "the development queries are the test, and a tenth of the train queries, drawn at random, is used for development"}
	case train:
		return splitPlan{draw: map[nq.Split]float64{nq.Dev: devShare, nq.Test: testShare}, from: nq.Train, why: "drawn at random from the train queries"}
	case dev && test:
		return splitPlan{become: map[nq.Split]nq.Split{nq.Dev: nq.Train}, draw: map[nq.Split]float64{nq.Dev: devShare}, from: nq.Train,
			why: "there are no train queries: development queries are used for training, except a tenth kept for development"}
	case dev || test:
		return splitPlan{become: map[nq.Split]nq.Split{nq.Dev: "", nq.Test: ""}, draw: map[nq.Split]float64{nq.Dev: devShare, nq.Test: mostly},
			why: "there are only test queries: half of them stay, the others are used for training; numbers are not the full test set's"}
	}
	return splitPlan{draw: map[nq.Split]float64{nq.Dev: devShare, nq.Test: testShare}, why: "drawn"}
}

// shares is the shares to draw, as HCL; "": none.
func (p splitPlan) shares() string {
	var list []string
	for _, s := range collect.Splits() {
		if share := p.draw[s]; share > 0 {
			list = append(list, fmt.Sprintf("%s = %v", s, share))
		}
	}
	if list == nil {
		return ""
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

// as is the file's role under a plan.
func (p splitPlan) as(f corpusFile) nq.Split {
	if s, ok := p.become[f.Split]; ok && f.Split != "" {
		return s
	}
	return f.Split
}
