package starter

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/fault"
)

// input is an attribute of import_corpus with its files, for the template.
type input struct {
	Name  string
	Files []string
}

func (c *Corpus) inputs() ([]input, error) {
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

// Study makes the files of a study on the corpus that is to be written into a folder.
func (c *Corpus) Study(dir string) (map[string][]byte, error) {
	at, err := relative(dir, c.Folder)
	if err != nil {
		return nil, fault.Input(err)
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

// hclString is a text as an HCL literal. hclwrite would compose letters and accents, and so name a different file.
func hclString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{").Replace(s) + `"`
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
			why: "there are only test queries: half of them stay, the others are used for training; numbers are not those of the whole test set"}
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
