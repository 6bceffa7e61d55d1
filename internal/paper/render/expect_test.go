package render

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// judged is a table whose only cells are r.a to r.d and the text r.t.
func judged(t *testing.T, a, b, c float64) *Table {
	t.Helper()
	tab := &Table{Stubs: []string{"s"}, Rows: []Row{{ID: "r", Titles: []string{"r"}, Cells: map[string]Cell{
		"a": Number(a), "b": Number(b), "c": Number(c), "t": {Text: " <tt>x</tt>  y\n z"}, "u": {Text: "3 3"}, "n": Absent("not there"), "std": {Value: new(50.0), Std: new(0.4), N: 5}, "flat": {Value: new(50.0), Std: new(0.0), N: 5}}}}}
	for _, id := range []string{"a", "b", "c", "d", "t", "u", "n", "std", "flat"} {
		tab.Columns = append(tab.Columns, Column{ID: id, Title: id, Format: Format{Style: "fixed", Decimals: 1, Std: true}})
	}
	testkit.None(t, tab.Finish())
	return tab
}

func TestForms(t *testing.T) {
	cells := func(s string) []string { return strings.Fields(s) }
	for _, c := range []struct {
		e    Expectation
		want Verdict
	}{
		{Expectation{Value: new(3.04)}, Matches},
		{Expectation{Value: new(3.06)}, IsNear},
		{Expectation{Value: new(3.11)}, Differs},
		{Expectation{Value: new(3.11), Near: new(0.2)}, IsNear},
		{Expectation{Value: new(3.3), Tolerance: 0.1, Near: new(0.2)}, Differs},
		{Expectation{Value: new(3.11), Tolerance: 0.1}, Matches},
		{Expectation{Value: new(3.2), Relative: 0.1}, Matches},
		{Expectation{Value: new(50.7), Cell: "r.std", Stds: 2}, Matches},
		{Expectation{Value: new(51.0), Cell: "r.std", Stds: 2}, Differs},
		{Expectation{Value: new(9.0), Shown: true}, Shown},
		{Expectation{Value: new(3.0), Cell: "r.t"}, Differs},
		{Expectation{Text: "x y <b>z</b>", Cell: "r.t"}, Matches},
		{Expectation{Text: "x z", Cell: "r.t"}, Differs},
		{Expectation{Text: "3", Cell: "r.u"}, Differs}, // "3 3": the beginning and the end are not all of it
		{Expectation{Text: "3 … 3", Cell: "r.u"}, Matches},
		{Expectation{Text: "3 3 … 3", Cell: "r.u"}, Differs},
		{Expectation{Text: "…y z", Cell: "r.t"}, Matches},
		{Expectation{Text: "x … z", Cell: "r.t"}, Matches},
		{Expectation{Text: "y …", Cell: "r.t"}, Differs},
		{Expectation{Text: "… y", Cell: "r.t"}, Differs},
		{Expectation{Text: "3.0"}, Matches},
		{Expectation{Text: "–", Cell: "r.d"}, Matches}, // it has run, and prints that
		{Expectation{Text: "x", Cell: "r.d"}, Differs},
		{Expectation{Value: new(3.0), Cell: "r.d"}, Differs},
		{Expectation{Sign: "positive"}, Holds},
		{Expectation{Sign: "negative"}, Broken},
		{Expectation{Sign: "positive", Margin: 3.5}, Broken},
		{Expectation{Above: cells("r.b r.c")}, Holds},
		{Expectation{Above: cells("r.b r.c"), Margin: 1}, Holds},
		{Expectation{Above: cells("r.b r.c"), Margin: 1.1}, Broken},
		{Expectation{Above: cells("r.a")}, Broken},
		{Expectation{Above: cells("r.d")}, Broken},
		{Expectation{Above: cells("r.a.std")}, NotRun}, // which one value has not
		{Expectation{Above: cells("r.d.std")}, Broken},
		{Expectation{Above: cells("r.n")}, NotHere},
		{Expectation{Above: cells("r.t")}, Broken}, // a text is not a number
		{Expectation{Below: cells("r.b")}, Broken},
		{Expectation{Cell: "r.c", Below: cells("r.a r.b")}, Holds},
		{Expectation{Cell: "they fall", Order: cells("r.a r.b r.c")}, Holds},
		{Expectation{Cell: "they fall", Order: cells("r.a r.c r.b")}, Broken},
		{Expectation{Cell: "they fall", Order: cells("r.a r.b r.c"), Margin: 1.5}, Broken},
		{Expectation{Cell: "d", Minus: cells("r.a r.c"), Value: new(2.0)}, Holds},
		{Expectation{Cell: "d", Minus: cells("r.c r.a"), Value: new(2.0)}, Broken},
		{Expectation{Cell: "d", Ratio: cells("r.a r.c"), Value: new(3.0)}, Holds},
		{Expectation{Cell: "d", Ratio: cells("r.a r.b"), Value: new(1.4)}, Broken}, // 1.5: no rounding but the tolerance
		{Expectation{Cell: "d", Ratio: cells("r.a r.b"), Value: new(1.4), Tolerance: 0.1}, Holds},
		{Expectation{Cell: "d", Min: cells("r.a r.b r.c"), Value: new(1.0)}, Holds},
		{Expectation{Cell: "d", Max: cells("r.a r.b r.c"), Value: new(2.0)}, Broken},
		{Expectation{Cell: "d", Mean: cells("r.a r.b r.c"), Value: new(2.04)}, Holds},
		{Expectation{Cell: "d", Sum: cells("r.a r.b r.c"), Value: new(6.1)}, IsNear},
		{Expectation{Cell: "d", Sum: cells("r.a r.b r.c"), Value: new(6.2)}, Broken},
	} {
		tab := judged(t, 3, 2, 1)
		if c.e.Cell == "" {
			c.e.Cell = "r.a"
		}
		if checks, err := tab.Expect(c.e); err != nil || len(checks) != 1 || checks[0].Verdict != c.want {
			t.Errorf("%+v: %+v, %v; want %s", c.e, checks, err, c.want)
		}
		tab.Scale, tab.PaperScale = "toy", "full"
		if checks, err := tab.Expect(c.e); err != nil || c.want != NotRun && c.want != NotHere && checks[0].Verdict != NotComparable {
			t.Errorf("%+v at another scale: %+v, %v", c.e, checks, err)
		}
		if planned := c.e.Planned("", "", "full"); len(planned) != 1 || planned[0].Verdict != NotRun {
			t.Errorf("%+v before a run: %+v", c.e, planned)
		}
	}
}

// TestScales: what is expected at a scale is compared there, and only there.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		e         Expectation
		full, toy Verdict // "": nothing is said
		whose     string  // at toy
	}{
		{Expectation{Value: new(3.0)}, Matches, NotComparable, "paper"},
		{Expectation{Value: new(9.0), At: map[string]float64{"toy": 3}}, Differs, Matches, "at toy"},
		{Expectation{At: map[string]float64{"toy": 9, "full": 3}}, Matches, Differs, "at toy"},
		{Expectation{At: map[string]float64{"other": 3}}, NotComparable, NotComparable, "paper"},
		{Expectation{Value: new(3.0), Scale: "toy"}, "", Matches, "at toy"},
		{Expectation{Cell: "r.t", Text: "nothing", Scale: "toy"}, "", Differs, "at toy"},
		{Expectation{Cell: "r.d", Value: new(1.0), Scale: "toy"}, "", Differs, "at toy"},
		{Expectation{Cell: "r.d", Value: new(1.0)}, Differs, NotComparable, "paper"},
		{Expectation{Value: new(3.0), Scale: "full"}, Matches, "", ""},
		{Expectation{Cell: "d", Minus: []string{"r.a", "r.b"}, At: map[string]float64{"toy": 1}}, NotComparable, Holds, "at toy"},
	} {
		for scale, want := range map[string]Verdict{"full": c.full, "toy": c.toy} {
			tab := judged(t, 3, 2, 1)
			tab.Scale, tab.PaperScale = scale, "full"
			e := c.e
			if e.Cell == "" {
				e.Cell = "r.a"
			}
			checks, err := tab.Expect(e)
			switch {
			case err != nil:
				t.Errorf("%+v: %v", e, err)
			case want == "" && len(checks) > 0 || want != "" && (len(checks) != 1 || checks[0].Verdict != want):
				t.Errorf("%+v at %s: %+v, want %q", e, scale, checks, want)
			case scale == "toy" && want != "" && checks[0].Whose() != c.whose:
				t.Errorf("%+v: of %s, want %s", e, checks[0].Whose(), c.whose)
			}
			testkit.Is(t, len(e.Planned("", scale, "full")), len(checks), e, scale)
		}
	}
}

// TestDeviations: a deviation is compared by its own factor, not the number's tolerances; one of 0 is none.
func TestDeviations(t *testing.T) {
	for _, c := range []struct {
		cell   string
		std    float64
		factor float64
		want   Verdict
	}{
		{"r.std", 0.4, 0, Matches}, {"r.std", 0.5, 0, Differs}, {"r.std", 1.1, 0, Differs}, {"r.std", 1.1, 3, Matches},
		{"r.std", 0.1, 2, Differs}, {"r.std", 0.1, 4, Matches}, {"r.std", 0, 9, Differs},
		{"r.flat", 0.04, 9, Differs}, {"r.flat", 0, 0, Matches}, {"r.a", 0.4, 9, NotRun},
	} {
		tab := judged(t, 50, 2, 1)
		tab.Columns[0].Format.Decimals = 1
		for i := range tab.Columns {
			tab.Columns[i].Format.Decimals = 2
		}
		checks, err := tab.Expect(Expectation{Cell: c.cell, Value: new(50.0), Tolerance: 10, Relative: 1, Stds: 10, Std: &c.std, StdFactor: c.factor})
		if err != nil || len(checks) != 2 || checks[0].Verdict != Matches || checks[1].Verdict != c.want {
			t.Errorf("%+v: %+v, %v", c, checks, err)
		}
	}
}

func TestNoForm(t *testing.T) {
	v, two := new(1.0), []string{"r.a", "r.b"}
	for want, e := range map[string]Expectation{
		"exactly one of":                 {Cell: "r.a"},
		"is exactly one of value, text":  {Cell: "r.a", Text: "x", Sign: "positive"},
		"above takes no value":           {Cell: "r.a", Above: two, Value: v},
		"minus needs the value":          {Cell: "r.a", Minus: two},
		"text takes no value":            {Cell: "r.a", Text: "x", Value: v},
		"numbers that are compared":      {Cell: "r.a", Shown: true, Value: v, Tolerance: 1},
		"std and stds are for":           {Cell: "r.a", Sum: two, Value: v, Std: v},
		"at least 1, and for std":        {Cell: "r.a", Value: v, StdFactor: 2},
		"margin is for":                  {Cell: "r.a", Value: v, Margin: 1},
		"not negative":                   {Cell: "r.a", Value: v, Tolerance: -1},
		"minus needs two cells":          {Cell: "r.a", Value: v, Minus: []string{"r.a", "r.b", "r.c"}},
		"order needs two cells or more":  {Cell: "r.a", Order: two[:1]},
		"any text would do":              {Cell: "r.a", Text: "<b>…</b> …"},
		`no row "q"`:                     {Cell: "name", Order: []string{"r.a", "q.a"}},
		`no column "q"`:                  {Cell: "r.a", Above: []string{"r.q"}},
		`"there": a cell is ROW.COLUMN`:  {Cell: "there", Sign: "positive"},
		`expect "r.x": "r.x": the table`: {Cell: "r.x", Text: "x"},
	} {
		if _, err := judged(t, 1, 2, 3).Expect(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
}

// TestFigureTexts: panels and stages have texts that a paper prints.
func TestFigureTexts(t *testing.T) {
	flow := &Figure{Width: 8, Flow: []Stage{{Title: "a", Text: "<tt>141913</tt>"}, {Title: "b", Items: []string{"968", "1"}}, {Title: "c", Text: AbsentText}}}
	panels := &Figure{Width: 8, Panels: []Panel{{Heading: "h", Text: "one\ntwo … [truncated]"}}}
	for _, c := range []struct {
		f          *Figure
		cell, text string
		want       Verdict
	}{
		{flow, "flow.0", "141913", Matches}, {flow, "flow.1", "968 1", Matches}, {flow, "flow.1", "968", Differs}, {flow, "flow.2", "x", NotHere},
		{panels, "panels.0", "one two…", Matches}, {flow, "flow.3", "x", ""}, {panels, "flow.0", "x", ""}, {panels, "panels.x", "x", ""},
	} {
		checks, err := c.f.Expect(Expectation{Cell: c.cell, Text: c.text})
		if (err != nil) != (c.want == "") || err == nil && checks[0].Verdict != c.want {
			t.Errorf("%s, %q: %+v, %v", c.cell, c.text, checks, err)
		}
	}
}
