package results

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type claimConfig struct {
	Text     string          `hcl:"text" help:"the sentence, in the paper's own words"`
	Paper    string          `hcl:"paper,optional" help:"where the paper says so, such as sec:results"`
	Severity render.Severity `hcl:"severity,optional" enum:",error,warning,info" help:"how serious it is if it does not hold: only an error, the default, fails a check"`
	Expect   []claimExpect   `hcl:"expect,block" help:"what holds where the sentence is true: all of them. Cells are written table.NAME[\"ROW.COLUMN\"] and figure.NAME[\"SERIES.POINT.y\"]"`
}

// claimExpect is an expectation of cells of any tables and figures, in exactly one form.
type claimExpect struct {
	Name      string             `hcl:"name,optional" help:"its name where there are several; default: its cells"`
	Cell      string             `hcl:"cell,optional" help:"the cell that value, text, sign, above and below are about"`
	Value     *float64           `hcl:"value,optional" help:"the number as the paper prints it"`
	At        map[string]float64 `hcl:"at,optional" help:"the number by scale of the run"`
	Tolerance float64            `hcl:"tolerance,optional" help:"absolute difference that still holds, beyond the paper's rounding"`
	Relative  float64            `hcl:"relative,optional" help:"the same as a fraction of value"`
	Near      *float64           `hcl:"near,optional" help:"absolute difference up to which a number that does not hold is near; default: half a unit of the last printed digit more than what holds"`
	Text      string             `hcl:"text,optional" help:"the text of the cell"`
	Sign      string             `hcl:"sign,optional" enum:",positive,negative" help:"the sign of the cell's number"`
	Above     []string           `hcl:"above,optional" help:"cells whose numbers the cell is above"`
	Below     []string           `hcl:"below,optional" help:"cells whose numbers the cell is below"`
	Order     []string           `hcl:"order,optional" help:"cells from the greatest number to the least"`
	Minus     []string           `hcl:"minus,optional" help:"two cells; value is their difference"`
	Ratio     []string           `hcl:"ratio,optional" help:"two cells; value is the first divided by the second"`
	Min       []string           `hcl:"min,optional" help:"cells; value is the least of their numbers"`
	Max       []string           `hcl:"max,optional" help:"cells; value is the greatest of their numbers"`
	Mean      []string           `hcl:"mean,optional" help:"cells; value is the mean of their numbers"`
	Sum       []string           `hcl:"sum,optional" help:"cells; value is the sum of their numbers"`
	Margin    float64            `hcl:"margin,optional" help:"by how much at least, for sign, above, below and order"`
	Scale     string             `hcl:"scale,optional" help:"the scale that it is about; default: the paper's"`
}

var Claim = step.Define(step.Kind[claimConfig]{
	Name:    "claim",
	Version: 1,
	Block:   true,
	Claim:   true,
	Doc: `A sentence of the paper, and what holds in its tables and figures where it is true.
It is not a step and runs nothing: ` + "`redsi check`" + `, ` + "`redsi report`" + ` and the end of a run
judge it by the results that are there.`,
	Example: `claim "factor_of_two" {
  text  = "The number of documents varies by a factor of more than two."
  paper = "sec:grouping"
  expect {
    ratio     = [table.dedup_counts["url.union"], table.dedup_counts["page_id.union"]]
    value     = 2.1
    tolerance = 0.05
  }
}`,
	Check: inout.Checks(func(c claimConfig, ps *step.Problems) {
		inout.Check(ps, "expect", len(c.Expect) > 0, "is needed: what holds where the sentence is true")
		for i, e := range c.Expect {
			at := fmt.Sprintf("expect[%d]", i)
			form, err := e.expectation().Form()
			switch {
			case err != nil:
				inout.Add(ps, at, "%v", err)
			case form.OfCell() && e.Cell == "":
				inout.Add(ps, at, "needs the cell that %s is about: cell = table.NAME[\"ROW.COLUMN\"]", form.Word())
			case !form.OfCell() && e.Cell != "":
				inout.Add(ps, at+".cell", "is for value, text, sign, above and below; %s has a list of cells", form)
			}
		}
	}),
	Names: claimConfig.names,
})

func (e claimExpect) expectation() render.Expectation {
	return render.Expectation{Cell: e.Cell, Value: e.Value, At: e.At, Tolerance: e.Tolerance, Relative: e.Relative, Near: e.Near,
		Text: e.Text, Sign: e.Sign, Above: e.Above, Below: e.Below, Order: e.Order, Minus: e.Minus, Ratio: e.Ratio,
		Min: e.Min, Max: e.Max, Mean: e.Mean, Sum: e.Sum, Margin: e.Margin, Scale: e.Scale}
}

func (c claimConfig) names() (list []step.CellName) {
	for i, e := range c.Expect {
		add := func(attr string, cells ...string) {
			for _, cell := range cells {
				list = append(list, step.CellName{Attr: fmt.Sprintf("expect[%d].%s", i, attr), Cell: cell})
			}
		}
		if e.Cell != "" {
			add("cell", e.Cell)
		}
		lists := e.expectation().Lists()
		for _, form := range slices.Sorted(maps.Keys(lists)) {
			add(string(form), lists[form]...)
		}
	}
	return list
}

// tableExpect is what is expected of one cell; expectations of several cells are claims.
type tableExpect struct {
	Cell      string   `hcl:"cell,label" help:"a cell by its name"`
	Value     *float64 `hcl:"value,added" help:"the number as the paper prints it"`
	Tolerance float64  `hcl:"tolerance,optional" help:"absolute difference that still matches, beyond the paper's rounding"`
	Relative  float64  `hcl:"relative,optional" help:"the same as a fraction of value"`
	Stds      float64  `hcl:"stds,optional" help:"the same in standard deviations of the rebuilt cell"`
	Source    string   `hcl:"source,optional" help:"where the paper says so; default: its label"`
	Std       *float64 `hcl:"std,added" help:"the standard deviation that the paper prints after ±; a rebuilt one of 0 does not count"`
	StdFactor float64  `hcl:"std_factor,added" help:"how many times greater or smaller than std the rebuilt deviation may be; default 1"`
	Text      string   `hcl:"text,added" help:"instead of value: the text of the cell, compared without markup and with any white space as one blank; an … stands for what the paper leaves out"`
	Shown     bool     `hcl:"shown,added" help:"value is shown beside the cell and not compared, such as hours on another device"`

	At       map[string]float64 `hcl:"at,optional" help:"the number by scale of the run: what is expected at each, compared with the same tolerances; value is the paper's"`
	Scale    string             `hcl:"scale,optional" help:"the scale that this is about, such as toy, in any form; default: the paper's"`
	Near     *float64           `hcl:"near,optional" help:"absolute difference up to which a number that does not match is near, which fails nothing; default: half a unit of the last printed digit more than what matches"`
	Severity render.Severity    `hcl:"severity,optional" enum:",error,warning,info" help:"how serious it is if it does not hold: only an error, the default, fails a check"`
}

func expectations(expect []tableExpect) []render.Expectation {
	return lists.Map(expect, func(e tableExpect) render.Expectation {
		return render.Expectation{Cell: e.Cell, Value: e.Value, Tolerance: e.Tolerance, Relative: e.Relative, Stds: e.Stds, Source: e.Source,
			Std: e.Std, StdFactor: e.StdFactor, Text: e.Text, Shown: e.Shown, At: e.At, Scale: e.Scale, Near: e.Near, Severity: e.Severity}
	})
}

// expectProblems adds the expectations that have no form, or name cells that do not exist.
func expectProblems(ps *step.Problems, expect []tableExpect, paperScale string,
	compare func(...render.Expectation) ([]render.Check, error)) {
	for i, e := range expectations(expect) {
		_, err := e.Form()
		if _, twice := e.At[paperScale]; err == nil && twice && e.Value != nil {
			err = fmt.Errorf("value is the paper's, and so is at.%s: give one of them", paperScale)
		}
		if e.Scale = ""; err == nil { // it must be right at other scales too
			_, err = compare(e)
		}
		inout.CheckError(ps, fmt.Sprintf("expect[%d]", i), err)
	}
}

// cells names the cells that expectations and claims can be about.
func (c tableConfig) cells() (names []string) {
	for _, r := range c.Rows {
		if !r.data() || r.ID == "" {
			continue
		}
		for _, k := range c.Columns {
			names = append(names, r.ID+"."+k.ID)
			if k.Std {
				names = append(names, r.ID+"."+k.ID+render.StdSuffix)
			}
		}
	}
	return names
}

// cells names the cells that expectations and claims can be about: of a curve, whose points come with the data, only
// the two that reach keeps.
func (c figureConfig) cells() (names []string) {
	point := func(series, id string, others ...string) {
		for _, number := range append([]string{"x", "y"}, others...) {
			names = append(names, series+"."+id+"."+number)
		}
	}
	for _, s := range c.Series {
		for _, p := range s.Points {
			switch {
			case s.Draw == "box":
				point(s.ID, p.ID, "low", "high", "q1", "q3")
			case p.Y.Low != "":
				point(s.ID, p.ID, "low", "high")
			case s.Draw != histogram:
				point(s.ID, p.ID)
			}
		}
		if s.Curve != nil && s.Curve.Reach > 0 {
			point(s.ID, "reach")
			point(s.ID, "best")
		}
	}
	for i := range c.Panels {
		names = append(names, fmt.Sprintf("panels.%d", i))
	}
	for i := range c.Flow {
		names = append(names, fmt.Sprintf("flow.%d", i))
	}
	return names
}
