package expect

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/lists"
)

// Claim is a sentence of the paper, and the verdict on it.
type Claim struct {
	Name     string          `json:"name"`
	Text     string          `json:"text"`
	Paper    string          `json:"paper,omitempty"`
	Severity render.Severity `json:"severity"`
	Verdict  render.Verdict  `json:"verdict"`
	Scale    string          `json:"scale,omitempty"` // of the results
	Items    []string        `json:"items"`           // addresses of the tables and figures that it is about
	Checks   []Check         `json:"checks"`          // all of them must hold
	Why      string          `json:"why,omitempty"`   // why it is not judged: a table or figure that it is about is left out
	Pos      pipeline.Pos    `json:"at"`
}

// Fails reports whether redsi check fails by the claim.
func (c Claim) Fails() bool { return c.Verdict == render.Broken && c.Severity == render.Error }

// Unmet returns the checks that break the claim, or only nearly hold.
func (c Claim) Unmet() []Check {
	return lists.Filter(c.Checks, func(k Check) bool {
		return k.Verdict == c.Verdict && (k.Verdict == render.Broken || k.Verdict == render.IsNear)
	})
}

func judgeClaim(c pipeline.Claim, items map[string]*Item) (Claim, error) {
	var config struct {
		Text, Paper string
		Severity    render.Severity
		Expect      []struct {
			render.Expectation
			Name string
		}
	}
	if err := json.Unmarshal(c.Config, &config); err != nil {
		return Claim{}, err
	}
	j := Claim{Name: c.Name, Text: config.Text, Paper: config.Paper, Severity: config.Severity, Items: c.Items(), Checks: []Check{}, Pos: c.Pos}
	j.Severity = cmp.Or(j.Severity, render.Error)
	if len(c.LeftOut) > 0 {
		j.Verdict, j.Why = render.NotComparable, c.LeftOut[0].Reason()
		return j, nil
	}
	var paperScale string
	for n, address := range j.Items {
		it := items[address]
		if it == nil { // not in this plan, so not run
			continue
		}
		if n == 0 || it.Other {
			j.Scale, paperScale = it.asked.Scale, it.asked.PaperScale
		}
	}
	find := func(name string) (render.Cell, render.Format, error) {
		item, cell, _ := address.Cell(name)
		if it := items[item]; it != nil {
			return it.cell(cell)
		}
		return render.Waiting(name)
	}
	for i, e := range config.Expect {
		e.Source, e.Expectation.Severity = config.Paper, j.Severity
		checks, err := render.Across(find, j.Scale, paperScale, e.Expectation)
		if err != nil {
			return Claim{}, err
		}
		for _, k := range checks {
			if k.Cell == "" || e.Name != "" {
				k.Cell = e.Name
			}
			j.Checks = append(j.Checks, Check{k, placeOf(c.AttrPos, c.Pos, i)})
		}
	}
	j.Verdict = verdictOf(j.Checks)
	return j, nil
}

// verdictOf returns the worst verdict of checks as a claim's verdict; NotComparable counts only if there is no other.
func verdictOf(checks []Check) render.Verdict {
	asClaim := map[render.Verdict]render.Verdict{render.Differs: render.Broken, render.Matches: render.Holds}
	for _, v := range []render.Verdict{render.Differs, render.Broken, render.NotRun, render.NotHere, render.IsNear, render.Holds, render.Matches} {
		if slices.ContainsFunc(checks, func(c Check) bool { return c.Verdict == v }) {
			return cmp.Or(asClaim[v], v)
		}
	}
	return render.NotComparable
}
