package results

import (
	"fmt"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// tableExpect is what is expected of one cell; what is expected of several is a claim's.
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

// expectProblems are the expectations that have no form, or name cells that do not exist.
func expectProblems(expect []tableExpect, paperScale string, compare func(render.Expectation) error) (ps step.Problems) {
	for i, e := range expectations(expect) {
		_, err := e.Form()
		if _, twice := e.At[paperScale]; err == nil && twice && e.Value != nil {
			err = fmt.Errorf("value is the paper's, and so is at.%s: give one of them", paperScale)
		}
		if e.Scale = ""; err == nil { // that it is about another scale does not make it right
			err = compare(e)
		}
		inout.CheckError(&ps, fmt.Sprintf("expect[%d]", i), err)
	}
	return ps
}

// cells names what expectations and claims can be about.
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

// cells names what expectations and claims can be about. The points of a curve come with
// the data, but for those that reach finds.
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
