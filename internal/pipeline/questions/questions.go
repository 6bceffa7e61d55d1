// Package questions lists what conferences' checklists ask, by official number, in our own words. It must not know how any is
// answered.
package questions

import (
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
)

type List struct {
	Name      string // acl, neurips
	Title     string
	Source    string // where its official words are
	Questions []Question
}

type Question struct {
	Number  string // as the list counts
	Section string
	Title   string
	About   []Topic // what records can say to it; none: only people can answer
	Ask     string  // what only people know all the same
}

// Topic is something that records, or what the pipeline says of itself, can tell.
type Topic string

// The topics.
const (
	Code       Topic = "code"       // revision, kinds, libraries, licence
	Data       Topic = "data"       // what was brought in, its licences and languages
	Sizes      Topic = "sizes"      // of data: counts
	Models     Topic = "models"     // sizes of models
	Compute    Topic = "compute"    // hours, failed work, memory, cards, energy
	Machines   Topic = "machines"   // where steps ran
	Settings   Topic = "settings"   // hyperparameters, bounds of the search, selection
	Runs       Topic = "runs"       // seeds, number of runs, means and deviations
	Commands   Topic = "commands"   // one for each table, with its cost
	Expected   Topic = "expected"   // the paper's numbers and what may differ
	Available  Topic = "available"  // what is stored, and where it can be had
	Parameters Topic = "parameters" // variables of the pipeline
)

func Of(name string) (List, bool) {
	l, ok := map[string]List{acl.Name: acl, neurips.Name: neurips}[name]
	return l, ok
}

func Names() []string { return []string{acl.Name, neurips.Name} }

func (l List) Has(number string) bool {
	return slices.ContainsFunc(l.Questions, func(q Question) bool { return q.Number == number })
}

func (l List) Numbers() []string {
	return lists.Map(l.Questions, func(q Question) string { return q.Number })
}

// Sections of ACL's list.
const (
	aclEvery   = "A. Every submission"
	aclAssets  = "B. Scientific artifacts that were used or made"
	aclCompute = "C. Computational experiments"
	aclPeople  = "D. Annotators and other people who took part"
	aclWriting = "E. Assistance by AI in research, coding or writing"
)

var acl = List{Name: "acl", Title: "ACL: Responsible NLP research checklist", Source: "https://aclrollingreview.org/responsibleNLPresearch/", Questions: []Question{
	{"A1", aclEvery, "Limitations of the work", nil, ""},
	{"A2", aclEvery, "Potential risks of the work", nil, ""},
	{"B1", aclAssets, "Creators of artifacts are cited", []Topic{Data}, "the sections that cite them"},
	{"B2", aclAssets, "Licences and terms of artifacts", []Topic{Code, Data}, ""},
	{"B3", aclAssets, "Use agrees with what artifacts are intended for", nil, ""},
	{"B4", aclAssets, "Personal or offensive content in the data", nil, ""},
	{"B5", aclAssets, "Documentation of artifacts: domains, languages, groups", []Topic{Data}, "what the data does not cover: groups, domains"},
	{"B6", aclAssets, "Statistics of the data: examples, splits", []Topic{Sizes}, ""},
	{"C1", aclCompute, "Parameters of models, computational budget, infrastructure", []Topic{Models, Compute, Machines}, ""},
	{"C2", aclCompute, "Experimental setup: search of hyperparameters, best values", []Topic{Settings}, ""},
	{"C3", aclCompute, "Descriptive statistics: error bars, means or single runs", []Topic{Runs}, ""},
	{"C4", aclCompute, "Packages with their settings", []Topic{Code, Machines, Parameters}, ""},
	{"D1", aclPeople, "Full text of instructions", nil, ""},
	{"D2", aclPeople, "Recruitment and payment", nil, ""},
	{"D3", aclPeople, "Consent to the use of the data", nil, ""},
	{"D4", aclPeople, "Approval by an ethics board", nil, ""},
	{"D5", aclPeople, "Demographics of annotators", nil, ""},
	{"E1", aclWriting, "Use of AI assistants", nil, ""},
}}

var neurips = List{Name: "neurips", Title: "NeurIPS: paper checklist", Source: "https://neurips.cc/public/guides/PaperChecklist", Questions: []Question{
	{"1", "", "Claims: abstract and introduction agree with the contributions", []Topic{Expected}, "whether abstract and introduction claim no more than that"},
	{"2", "", "Limitations", nil, ""},
	{"3", "", "Theory: assumptions and proofs", nil, ""},
	{"4", "", "Reproducibility of the experiments' results", []Topic{Commands, Code, Expected}, ""},
	{"5", "", "Open access to data and code", []Topic{Code, Data, Available}, ""},
	{"6", "", "Setting of the experiments: splits, hyperparameters, how they were chosen", []Topic{Sizes, Settings, Parameters}, ""},
	{"7", "", "Statistical significance: error bars and what they are of", []Topic{Runs}, ""},
	{"8", "", "Compute: workers, memory, time of each experiment and of all", []Topic{Machines, Compute, Commands}, ""},
	{"9", "", "Code of ethics", nil, ""},
	{"10", "", "Broader impacts", nil, ""},
	{"11", "", "Safeguards of what is released", nil, ""},
	{"12", "", "Licences of existing assets", []Topic{Data}, ""},
	{"13", "", "New assets and their documentation", []Topic{Available}, "where what is released is documented"},
	{"14", "", "Crowdsourcing and research with people", nil, ""},
	{"15", "", "Approval by a review board", nil, ""},
	{"16", "", "Use of language models as a component of the method", nil, ""},
}}
