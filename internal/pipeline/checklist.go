package pipeline

import (
	"fmt"
	"slices"

	"github.com/redsi/redsi/internal/pipeline/questions"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// Checklist is what a pipeline says for conferences' checklists that no record knows, each
// with its place. It is not part of any key.
type Checklist struct {
	Selection Said                       // how what is reported was chosen
	Search    []Bound                    // by name
	Assets    []Asset                    // as they stand
	Answers   map[string]map[string]Said // by list and number of the question
}

// Said is a text with its place.
type Said struct {
	Text string
	Pos  syntax.Pos
}

// Bound is what was tried of one hyperparameter.
type Bound struct {
	Name string
	Said
}

// Asset is a dataset or model that the pipeline uses or makes.
type Asset struct {
	Type      string     `hcl:"-"` // "dataset" or "model"
	Name      string     `hcl:"name,label" help:"What it is called."`
	License   string     `hcl:"license,optional" help:"Its licence or terms."`
	URL       string     `hcl:"url,optional" help:"Where to get it."`
	Languages []string   `hcl:"languages,optional" help:"The languages of its texts."`
	About     string     `hcl:"about,optional" help:"Domains, splits, terms: what a reader should know."`
	Pos       syntax.Pos `hcl:"-"`
}

type checklistBlock struct {
	Selection *string           `hcl:"selection,optional" help:"How what is reported was chosen."`
	Search    map[string]string `hcl:"search,optional" help:"What was tried for each hyperparameter: its name to the bounds."`
	ACL       map[string]string `hcl:"acl,optional" help:"Answers to ACL's list: A1 to E1."`
	NeurIPS   map[string]string `hcl:"neurips,optional" help:"Answers to NeurIPS's list: \"1\" to \"16\"."`
	ACM       map[string]string `hcl:"acm,optional" help:"Answers to ACM's badges and artifact appendix."`
	Datasets  []Asset           `hcl:"dataset,block" help:"A dataset that is used or made."`
	Models    []Asset           `hcl:"model,block" help:"A model that is used or made."`
}

// answers are those of people to the questions of each list.
func (x checklistBlock) answers() map[string]map[string]string {
	return map[string]map[string]string{"acl": x.ACL, "neurips": x.NeurIPS, "acm": x.ACM}
}

func (x checklistBlock) assets() map[string][]Asset {
	return map[string][]Asset{"dataset": x.Datasets, "model": x.Models}
}

func checkChecklist(x checklistBlock) error {
	var ps step.Problems
	for name, given := range x.answers() {
		list, _ := questions.Of(name)
		for number := range given {
			if !list.Has(number) {
				ps = append(ps, step.Problem{Path: schema.Show([]any{name, schema.Key(number)}), Detail: fmt.Sprintf("The list has no question %q. %s", number, syntax.Suggest(number, list.Numbers(), "question"))})
			}
		}
	}
	for typ, assets := range x.assets() {
		for i, a := range assets {
			if slices.ContainsFunc(assets[:i], func(b Asset) bool { return a.Name == b.Name }) {
				ps = append(ps, step.Problem{Path: schema.Show([]any{typ, i, "name"}), Detail: "another one before it has this name"})
			}
		}
	}
	return ps.Err()
}
