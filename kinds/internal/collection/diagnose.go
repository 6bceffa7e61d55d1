package collection

import (
	"context"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// diagnoseConfig compares a title-like operator with page identity.
type diagnoseConfig struct {
	Train       step.Inputs `hcl:"train" accepts:"nq/headers" help:"headers of the training records"`
	Dev         step.Inputs `hcl:"dev" accepts:"nq/headers" help:"headers of the development records"`
	Pages       step.Input  `hcl:"pages" accepts:"wikipedia/pages" help:"revisions and their PageIDs"`
	Tokenizer   step.Inputs `hcl:"tokenizer,optional" accepts:"files" help:"bert-base-uncased tokenizer.json; needed by title and nci_h1"`
	RecordOrder string      `hcl:"record_order,optional" enum:"dev_first,train_first" help:"which split's records come first: an example shows the first record of each name"`
	Key         string      `hcl:"key,optional" enum:"url_title_cased,url_title,h1_cased,h1,nci_h1,title" help:"operator to diagnose"`
	Examples    int         `hcl:"examples,optional" help:"how many examples of each kind to keep"`
	Fragment    string      `hcl:"fragment,optional" help:"a title whose fragmented page the table shows; default: the first found"`
	Collision   string      `hcl:"collision,optional" help:"a title whose collision the table shows; default: the first found"`
}

var Diagnose = step.Define(step.Kind[diagnoseConfig]{
	Name:    "dedup_diagnostics",
	Version: 2,
	Doc: `Count what grouping by title does to pages (section "Qualitative Analysis of NQ320K").
Fragmented pages, titles that several pages share, affected queries, supervision
coverage, and examples for tab:title-grouping-examples and
tab:shared-title-revision-variation. An example asked for that the records do not
have is counted and reported as absent; the numbers do not depend on it.`,
	Example: `step "dedup_diagnostics" "nq" {
  train     = step.extract.train.headers
  dev       = step.extract.dev.headers
  pages     = step.pages.nq.table
  tokenizer = step.download.bert_tokenizer.files
  fragment  = "Elsa (Disney)"
}`,
	Outputs:  []step.Output{{Name: "report", Type: "dedup/diagnostics", Help: "dedup.Diagnostics, with the chosen examples, as JSON", Fields: step.FieldsOf[diagnosis]()}},
	Defaults: diagnoseConfig{RecordOrder: string(dedup.DevFirst), Key: "title", Examples: 20},
	Run:      runDiagnose,
})

// diagnosis is the report: the numbers, and the examples that tables print.
type diagnosis struct {
	dedup.Diagnostics
	Fragment     *inout.Example[dedup.Fragment]  `json:"fragment"` // null: there is none
	Collision    *inout.Example[dedup.Collision] `json:"collision"`
	SharedTitles []dedup.SharedTitle             `json:"shared_titles"`
}

func runDiagnose(_ context.Context, x *step.IO, c diagnoseConfig) error {
	src, err := dedupSources(x, dedupConfig{Tokenizer: c.Tokenizer, Pages: c.Pages})
	if err != nil {
		return err
	}
	groups, err := grouped(x, c.Train, c.Dev, src, dedup.Options{RecordOrder: dedup.RecordOrder(c.RecordOrder)}, c.Key, "page_id")
	if err != nil {
		return err
	}
	title, page := groups[0], groups[1]
	var d diagnosis
	if d.Diagnostics, err = dedup.Diagnose(title, page, c.Examples); err != nil {
		return step.Permanent(err)
	}
	if err := d.choose(x, title, c); err != nil {
		return step.Permanent(err)
	}
	return inout.WriteReport(x, d, map[string]int{"fragmented_pages": d.FragmentedPages,
		"colliding_pages": d.CollidingPages})
}

// choose picks the examples: those asked for by title, else the first.
func (d *diagnosis) choose(x *step.IO, title *dedup.Grouping, c diagnoseConfig) error {
	d.SharedTitles = dedup.SharedTitles(title)
	d.SharedTitles = d.SharedTitles[:min(c.Examples, len(d.SharedTitles))]
	t, err := dedup.DiagnoseTitles(title)
	if err != nil {
		return err
	}
	d.Fragment = chosen(x, c.Fragment, d.Fragments, t.Fragment)
	d.Collision = chosen(x, c.Collision, d.Collisions, t.Collision)
	return nil
}

// chosen is the example that a title names, else the first; nil if there is none.
func chosen[T any](x *step.IO, title string, all []T, find func(title string) (T, error)) *inout.Example[T] {
	var v T
	var err error
	switch {
	case title != "":
		v, err = find(title)
	case len(all) == 0:
		return nil
	default:
		v = all[0]
	}
	e := inout.ExampleOf(x, v, err)
	return &e
}
