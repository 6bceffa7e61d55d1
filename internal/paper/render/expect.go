package render

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Expectation is what is expected of cells, in exactly one form: a number, a text, a sign, a place above or below others,
// an order, or a number that follows from several. Numbers are as the paper prints them: after scale and rounding. A
// table's or figure's is about one of its cells; a claim's, about cells of any, whose names begin with their addresses.
type Expectation struct {
	Cell      string   // ROW.COLUMN by their ids; for an order or a derived number, its name or ""
	Value     *float64 // the number
	Tolerance float64  // absolute
	Relative  float64  // fraction of Value
	Stds      float64  // multiples of the rebuilt standard deviation
	Source    string   // where the paper says so; by default its label
	Std       *float64 // the standard deviation that is printed after ±
	StdFactor float64  `json:"std_factor"` // how many times more or less the rebuilt one may be; 0 is 1
	Text      string   // the cell's text; see SameText
	Sign      string   // "positive" or "negative"
	Above     []string // cells that this one is above
	Below     []string // cells that this one is below
	Order     []string // cells, each above the next
	Minus     []string // two cells whose difference Value is
	Ratio     []string // two cells whose quotient Value is
	Min       []string // cells whose least number Value is
	Max       []string // cells whose greatest number Value is
	Mean      []string // cells whose mean Value is
	Sum       []string // cells whose sum Value is
	Margin    float64  // the least distance for Sign, Above, Below and Order; 0: any
	Shown     bool     // Value is shown beside the cell and not compared

	At       map[string]float64 // the number by scale of the run, instead of or beside Value, which is the paper's
	Scale    string             // the scale of the runs that it is about; "" is the paper's
	Near     *float64           // how far a number may be off and still be near; see Expectation.near
	Severity Severity           // if it does not hold; "" is Error
}

// Severity is how bad it is that an expectation does not hold.
type Severity string

// The severities. Only errors fail a check.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Lesser returns a severity that fails nothing in the form that follows a verdict, after space; "" for an error.
func (s Severity) Lesser(space string) string {
	if s == "" || s == Error {
		return ""
	}
	return space + "(" + string(s) + ")"
}

// about reports whether the expectation is about runs of a scale; an expectation at the paper's scale is about all runs.
func (e Expectation) about(scale, paper string) bool {
	return e.Scale == "" || scale == e.Scale || scale == "" && e.Scale == paper
}

// at returns the expectation for a scale, and whether it expects something at that scale.
func (e Expectation) at(scale, paper string) (Expectation, bool) {
	scale = cmp.Or(scale, paper)
	if v, ok := e.At[scale]; ok {
		e.Value = &v
		return e, true
	}
	if v, ok := e.At[paper]; ok {
		e.Value = &v // to be shown
	}
	return e, scale == paper && (e.Value != nil || e.At == nil) || e.Scale != "" && e.Scale == scale
}

// near returns how far a number may be off and still be near: Near, or half a unit of the last printed digit beyond
// matches. A count is never near: only the same count matches.
func (e Expectation) near(matches, rounding float64) float64 {
	if e.Near != nil {
		return math.Max(*e.Near, matches) * (1 + 1e-9)
	}
	return matches + rounding
}

// Form is what an expectation asks of its cells.
type Form string

// The forms. A deviation comes with a number.
const (
	IsNumber Form = ""
	IsStd    Form = "std"
	IsText   Form = "text"
	IsShown  Form = "shown"
	HasSign  Form = "sign"
	IsAbove  Form = "above"
	IsBelow  Form = "below"
	InOrder  Form = "order"
	IsMinus  Form = "minus"
	IsRatio  Form = "ratio"
	IsMin    Form = "min"
	IsMax    Form = "max"
	IsMean   Form = "mean"
	IsSum    Form = "sum"
)

// Claim reports whether the form says something about cells, and not what one of them is.
func (f Form) Claim() bool { return !slices.Contains([]Form{IsNumber, IsStd, IsText, IsShown}, f) }

// OfCell reports whether the form is about the one cell that an expectation names.
func (f Form) OfCell() bool {
	_, isDerived := derived[f]
	return !isDerived && f != InOrder
}

// Word is the form's name for people.
func (f Form) Word() string { return cmp.Or(string(f), "value") }

// derived has the forms that follow by a function from numbers of cells.
var derived = map[Form]func([]float64) float64{
	IsMinus: func(v []float64) float64 { return v[0] - v[1] },
	IsRatio: func(v []float64) float64 { return v[0] / v[1] },
	IsMin:   slices.Min[[]float64],
	IsMax:   slices.Max[[]float64],
	IsMean:  func(v []float64) float64 { return sum(v) / float64(len(v)) },
	IsSum:   sum,
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// Lists returns the cells that forms list.
func (e Expectation) Lists() map[Form][]string {
	return map[Form][]string{IsAbove: e.Above, IsBelow: e.Below, InOrder: e.Order,
		IsMinus: e.Minus, IsRatio: e.Ratio, IsMin: e.Min, IsMax: e.Max, IsMean: e.Mean, IsSum: e.Sum}
}

// Form returns the form of the expectation, and what is wrong with it.
func (e Expectation) Form() (Form, error) {
	given := map[Form]bool{IsText: e.Text != "", HasSign: e.Sign != "", IsShown: e.Shown}
	for form, cells := range e.Lists() {
		given[form] = len(cells) > 0
	}
	forms := lists.Filter(slices.Collect(maps.Keys(given)), func(form Form) bool { return given[form] })
	if len(forms) == 0 && (e.Value != nil || len(e.At) > 0) {
		forms = append(forms, IsNumber)
	}
	if len(forms) != 1 {
		return "", errors.New("is exactly one of value, text, sign, above, below, order, and value with one of shown, minus, ratio, min, max, mean and sum")
	}
	form := forms[0]
	if e.Value == nil && len(e.At) > 0 {
		e.Value = new(0.0) // stands for the values of At
	}
	_, isDerived := derived[form]
	cells := e.Lists()[form]
	valued := form == IsNumber || form == IsShown || isDerived
	switch {
	case valued && e.Value == nil:
		return form, fmt.Errorf("%s needs the value that the paper prints", form)
	case !valued && e.Value != nil:
		return form, fmt.Errorf("%s takes no value", form)
	case (e.Tolerance != 0 || e.Relative != 0) && form != IsNumber && !isDerived:
		return form, errors.New("tolerance and relative are for numbers that are compared")
	case (e.Std != nil || e.Stds != 0) && form != IsNumber:
		return form, errors.New("std and stds are for the number of a cell")
	case e.StdFactor != 0 && (e.Std == nil || e.StdFactor < 1):
		return form, errors.New("std_factor is at least 1, and for std")
	case len(e.At) > 0 && e.Scale != "":
		return form, errors.New("at has values by scale; scale is for an expectation that is about one")
	case e.Near != nil && form != IsNumber && !isDerived:
		return form, errors.New("near is for numbers that are compared")
	case e.Near != nil && *e.Near < e.Tolerance:
		return form, errors.New("near is wider than tolerance")
	case !slices.Contains([]Severity{"", Error, Warning, Info}, e.Severity):
		return form, fmt.Errorf("severity is error, warning or info, not %q", e.Severity)
	case e.Margin != 0 && (valued || form == IsText):
		return form, errors.New("margin is for sign, above, below and order")
	case e.Tolerance < 0 || e.Relative < 0 || e.Stds < 0 || e.Margin < 0 || e.Std != nil && *e.Std < 0:
		return form, errors.New("tolerances, margins and deviations are not negative")
	case (form == IsMinus || form == IsRatio) && len(cells) != 2:
		return form, fmt.Errorf("%s needs two cells", form)
	case (isDerived || form == InOrder) && len(cells) < 2:
		return form, fmt.Errorf("%s needs two cells or more", form)
	case form == IsText && strings.Trim(plainText(e.Text), "… ") == "":
		return form, errors.New("any text would do")
	}
	return form, nil
}
