package results

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// claimConfig is a claim block.
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
	Check: checkClaim,
	Names: claimConfig.names,
})

// expectation is what a claim says of cells.
func (e claimExpect) expectation() render.Expectation {
	return render.Expectation{Cell: e.Cell, Value: e.Value, At: e.At, Tolerance: e.Tolerance, Relative: e.Relative, Near: e.Near,
		Text: e.Text, Sign: e.Sign, Above: e.Above, Below: e.Below, Order: e.Order, Minus: e.Minus, Ratio: e.Ratio,
		Min: e.Min, Max: e.Max, Mean: e.Mean, Sum: e.Sum, Margin: e.Margin, Scale: e.Scale}
}

func checkClaim(c claimConfig) error {
	var ps step.Problems
	problem := inout.Adding(&ps)
	inout.Check(&ps, "expect", len(c.Expect) > 0, "is needed: what holds where the sentence is true")
	for i, e := range c.Expect {
		at := fmt.Sprintf("expect[%d]", i)
		form, err := e.expectation().Form()
		switch {
		case err != nil:
			problem(at, "%v", err)
		case form.OfCell() && e.Cell == "":
			problem(at, "needs the cell that %s is about: cell = table.NAME[\"ROW.COLUMN\"]", form.Word())
		case !form.OfCell() && e.Cell != "":
			problem(at+".cell", "is for value, text, sign, above and below; %s has a list of cells", form)
		}
	}
	return ps.Err()
}

// names are the cells that the claim is about.
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
