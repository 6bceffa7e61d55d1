package impact

import (
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// Format names the form of a report in JSON.
const Format = "redsi-impact/1"

// Report is what a change costs.
type Report struct {
	Format string   `json:"format"`
	A      string   `json:"a"` // what is compared, for people
	B      string   `json:"b"`
	Notes  []string `json:"notes"` // what the reader has to know of how it was compared

	Steps  Counts        `json:"steps"`
	Cost   estimate.Cost `json:"cost"`   // of what the change makes run
	Causes []Cause       `json:"causes"` // those that move most steps first
	Tables []Table       `json:"tables"` // that the change touches, in the plan's order
	Claims []Claim       `json:"claims"` // of tables that it touches
	Each   []Change      `json:"changes"`
}

// Runs reports whether anything runs that would not run without the change.
func (r *Report) Runs() bool { return r.Steps.Run+r.Steps.Maybe+r.Steps.New > 0 }

// Counts are of steps, each once.
type Counts struct {
	Same   int `json:"same"`   // nothing is other than before
	Run    int `json:"run"`    // from HIT to RUN
	Maybe  int `json:"maybe"`  // from HIT to MAYBE
	New    int `json:"new"`    // not there before, no hits
	Hit    int `json:"hit"`    // to HIT: from RUN or MAYBE, or new and there already
	Cut    int `json:"cut"`    // HIT before and after, under another key
	Gone   int `json:"gone"`   // not there any more
	Anyway int `json:"anyway"` // no hits before the change either
}

// Cause is one thing that differs: an attribute of a block, the version of a kind, a new block.
type Cause struct {
	Block  string        `json:"block,omitempty"` // step.train.dsi; "" of the version of a kind
	Path   string        `json:"path"`            // config.options.lists, version, or "" of a new block
	Old    string        `json:"old,omitempty"`   // "" where the steps of the block differ
	New    string        `json:"new,omitempty"`
	Text   string        `json:"text"` // for people
	Where  string        `json:"where,omitempty"`
	Steps  int           `json:"steps"` // that it changes themselves
	Moves  estimate.Cost `json:"moves"` // what runs because of it, and maybe because of others too
	values bool          // that its steps differ in
}

// Table is what the change does to the steps that a table or figure needs.
type Table struct {
	Address string        `json:"address"`
	Before  plan.Outcome  `json:"before,omitempty"` // "" if it was not there
	After   plan.Outcome  `json:"after,omitempty"`  // "" if it is gone
	Counts  Counts        `json:"steps"`
	Cost    estimate.Cost `json:"cost"`
	Claims  int           `json:"claims"`
}

// Claim is a sentence of the paper that a table holds.
type Claim struct {
	Table string `json:"table"`
	Text  string `json:"text"`
}

// Change is what becomes of a step.
type Change struct {
	Address string       `json:"address"`
	Before  plan.Outcome `json:"before,omitempty"`
	After   plan.Outcome `json:"after,omitempty"`
	Stood   bool         `json:"stood,omitempty"`  // it is a hit before, but for the version of a kind
	Charged bool         `json:"charged"`          // it runs because of the change
	Causes  []int        `json:"causes,omitempty"` // places in the report's causes
	Expect  *float64     `json:"expect_s,omitempty"`
}
