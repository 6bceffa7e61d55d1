package questions

import (
	"slices"

	"github.com/redsi/redsi/internal/system/lists"
)

// List is one checklist.
type List struct {
	Name      string // acl, neurips
	Title     string
	Source    string // where its official words are
	Questions []Question
}

// Question is one of its questions.
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

// Of is the list of that name.
func Of(name string) (List, bool) {
	for _, l := range []List{acl, neurips} {
		if l.Name == name {
			return l, true
		}
	}
	return List{}, false
}

// Names are those of all lists.
func Names() []string { return []string{acl.Name, neurips.Name} }

// Has reports whether the list has a question of that number.
func (l List) Has(number string) bool {
	return slices.ContainsFunc(l.Questions, func(q Question) bool { return q.Number == number })
}

// Numbers are those of its questions.
func (l List) Numbers() []string {
	return lists.Map(l.Questions, func(q Question) string { return q.Number })
}
