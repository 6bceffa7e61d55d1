package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/session/fault"
)

// corpusFound is what init --corpus found in a folder.
type corpusFound struct {
	Folder    string                   `json:"folder"`
	Files     []collect.FileReport     `json:"files"`
	Documents collect.DocumentsReport  `json:"documents"`
	Questions *collect.QuestionsReport `json:"queries"`
	Splits    string                   `json:"splits"` // where they come from

	plan splitPlan
	list []corpusFile
}

// corpusFile is a file of the corpus with its role.
type corpusFile struct {
	collect.Part
	name string // below the folder, with slashes
	size int64
}

// splitPlan says how a collection gets the splits that its files lack: a study needs queries
// for training, for choosing the checkpoint, and for testing.
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
			why: "there are only test queries: half of them stay, the others are used for training; numbers are not those of the whole test set"}
	}
	return splitPlan{draw: map[nq.Split]float64{nq.Dev: devShare, nq.Test: testShare}, why: "drawn"}
}

// findCorpus reads the files of a folder as the study's import_corpus will, so that errors in
// them are found before anything is written.
func findCorpus(ctx context.Context, folder string) (*corpusFound, error) {
	c := &corpusFound{Folder: folder}
	if err := c.look(); err != nil {
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

// look lists the folder's files by role.
func (c *corpusFound) look() error {
	sizes := map[string]int64{}
	var names []string
	err := filepath.WalkDir(c.Folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != c.Folder && strings.HasPrefix(d.Name(), ".") {
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
		name := filepath.ToSlash(rel)
		names, sizes[name] = append(names, name), info.Size()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", c.Folder)
	}
	if err != nil {
		return err
	}
	parts, err := collect.Arrange(names, "")
	if err != nil {
		return fmt.Errorf("%s: no corpus found: %w\n  looked for documents (corpus, documents, docs, collection or passages), queries (queries, topics or "+
			"questions) and judgments\n  (qrels or judgments, with train, dev or test in their names), as .jsonl, .tsv, .csv, .txt, .trec, .xml or .parquet, "+
			"also compressed:\n  corpus.jsonl, queries.jsonl, qrels/test.tsv", c.Folder, err)
	}
	have := map[collect.Role]bool{}
	for _, name := range names {
		if p, ok := parts[name]; ok {
			c.list = append(c.list, corpusFile{p, name, sizes[name]})
			have[p.Role] = true
		}
	}
	if !have[collect.Queries] {
		return fmt.Errorf("%s: there are documents but no queries; looked for files named queries, topics or questions among: %s",
			c.Folder, strings.Join(names[:min(len(names), 8)], ", "))
	}
	return nil
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

func (c *corpusFound) readQuestions(ctx context.Context, p splitPlan) ([]collect.FileReport, *collect.Questions, error) {
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
func (c *corpusFound) read(ctx context.Context) error {
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

func (c *corpusFound) open(f corpusFile) collect.File {
	file := filepath.Join(c.Folder, filepath.FromSlash(f.name))
	return collect.File{Name: f.name, Size: f.size,
		Open: func() (io.ReadCloser, error) { return os.Open(file) },
		Path: func() (string, error) { return file, nil }}
}

// input is an attribute of import_corpus with its files, for the template.
type input struct {
	Name  string
	Files []string
}

func (c *corpusFound) inputs() ([]input, error) {
	var list []input
	for _, f := range c.list {
		name := map[collect.Role]string{collect.Documents: "documents", collect.Queries: "queries", collect.Judgments: "qrels"}[f.Role]
		if s := c.plan.as(f); s != "" && f.Role != collect.Documents {
			name = string(s) + "_" + name
		}
		i := slices.IndexFunc(list, func(in input) bool { return in.Name == name })
		if i < 0 {
			i = len(list)
			list = append(list, input{Name: name})
		}
		for _, other := range list[i].Files {
			if path.Base(other) == path.Base(f.name) {
				return nil, fault.Input(fmt.Errorf("%s: %s and %s are both %s with the same name; rename one of them", c.Folder, other, f.name, name))
			}
		}
		list[i].Files = append(list[i].Files, f.name)
	}
	order := []string{"documents", "queries", "train_queries", "dev_queries", "test_queries", "qrels", "train_qrels", "dev_qrels", "test_qrels"}
	slices.SortFunc(list, func(a, b input) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	return list, nil
}

// study makes the files of a study on the corpus at a path, as seen from the study.
func (c *corpusFound) study(at string) (map[string][]byte, error) {
	list, err := c.inputs()
	if err != nil {
		return nil, err
	}
	t, err := template.New("pipelines.hcl.tmpl").Funcs(template.FuncMap{"pad": func(n int, s string) string { return fmt.Sprintf("%-*s", n, s) },
		"quote": hclString}).ParseFS(starters, "starter/corpus/*.tmpl")
	if err != nil {
		return nil, err
	}
	width := 0
	for _, in := range list {
		width = max(width, len(in.Name))
	}
	data := map[string]any{"Corpus": at, "Inputs": list, "Width": width, "Draw": c.plan.shares(), "From": c.plan.from, "Why": c.plan.why,
		"Documents": c.Documents.Union, "Train": c.Questions.Train.Asked, "Dev": c.Questions.Dev.Asked, "Test": c.Questions.Test.Asked}
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

// hclString is a text as an HCL literal. hclwrite would compose letters with their accents,
// and so name a different file.
func hclString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{").Replace(s) + `"`
}

// initCorpus writes a study on the corpus in a folder into dir.
func (a *app) initCorpus(ctx context.Context, corpus, dir string) error {
	found, err := findCorpus(ctx, corpus)
	if err != nil {
		return err
	}
	at, err := relative(dir, corpus)
	if err != nil {
		return fault.Input(err)
	}
	files, err := found.study(at)
	if err != nil {
		return err
	}
	wrote, err := writeFiles(files, dir)
	if err != nil {
		return err
	}
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"wrote": wrote, "corpus": found})
	}
	found.print(a.Out)
	printWrote(a.Out, wrote, dir)
	return nil
}

// relative is a folder as seen from another, with slashes; absolute if on another volume.
func relative(from, to string) (string, error) {
	f, err1 := filepath.Abs(from)
	t, err2 := filepath.Abs(to)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(f, t)
	if err != nil {
		rel = t
	}
	return filepath.ToSlash(rel), nil
}

func (c *corpusFound) print(out io.Writer) {
	for _, f := range c.Files {
		as := map[collect.Role]string{collect.Documents: "documents", collect.Queries: "queries", collect.Judgments: "judgments"}[f.Role]
		if f.Split != "" {
			as = string(f.Split) + " " + as
		}
		view.Printf(out, "found %s: %d %s (%s)\n", f.Name, f.Records, as, f.Format)
	}
	view.Printf(out, "%s", view.Count(int(c.Documents.Union), "document"))
	if n := c.Documents.Untitled; n > 0 {
		view.Printf(out, ", %d without a title", n)
	}
	if n := c.Documents.Empty; n > 0 {
		view.Printf(out, ", %d without words", n)
	}
	view.Printf(out, "\n")
	for _, s := range collect.Splits() {
		r := c.Questions.Of(s)
		noun := "queries"
		if r.Asked == 1 {
			noun = "query"
		}
		view.Printf(out, "%d %s %s with %s", r.Asked, s, noun, view.Count(int(r.Judgments), "judgment"))
		if r.Several > 0 {
			view.Printf(out, ", %d of them with several documents", r.Several)
		}
		if r.InTrain > 0 {
			view.Printf(out, ", %d with the words of a train query", r.InTrain)
		}
		view.Printf(out, "\n")
	}
	if n := c.Questions.Unjudged; n > 0 {
		view.Printf(out, "left out, without a relevant document: %d %s\n", n, map[bool]string{true: "query", false: "queries"}[n == 1])
	}
	view.Printf(out, "splits: %s\n", c.Splits)
}
