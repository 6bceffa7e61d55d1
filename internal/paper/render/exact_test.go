package render

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// integerCell is a cell with an integer as a file has it.
func integerCell(text string, v float64) Cell {
	c := Number(v)
	c.Typed = text
	return c
}

// TestExactNumbers: integers beyond 2^53 are printed and compared with all their digits.
func TestExactNumbers(t *testing.T) {
	a, b := integerCell("9007199254740993", 1<<53), Number(1<<53)
	for _, c := range []struct {
		f    Format
		cell Cell
		want string
	}{
		{Format{Style: "text"}, a, "9007199254740993"}, {Format{Style: "text"}, b, "9007199254740992"}, {Format{Style: "text"}, Number(1e30), "1e+30"},
		{Format{Style: "text"}, integerCell("007", 7), "007"}, {Format{Style: "text", Scale: 100}, integerCell("0.50", 0.5), "50"},
		{Format{Style: "integer"}, a, "9,007,199,254,740,993"}, {Format{Style: "integer"}, integerCell("-9007199254740993", -1<<53), "−9,007,199,254,740,993"},
		{Format{Style: "integer", Scale: 10}, a, "90,071,992,547,409,930"}, {Format{Style: "integer"}, Number(1234567890123456768), "1,234,567,890,123,456,768"},
		{Format{Style: "integer"}, Number(-0.4), "0"}, {Format{Style: "integer"}, Number(1e23), "100,000,000,000,000,000,000,000"},
		{Format{Style: "fixed", Decimals: 1}, a, "9007199254740993.0"},
	} {
		testkit.Is(t, c.cell.Plain(c.f), c.want, c.f)
	}
	cells := strings.Fields
	for _, c := range []struct {
		e    Expectation
		want Verdict
	}{
		{Expectation{Cell: "r.a", Value: b.Value}, Differs}, {Expectation{Cell: "r.b", Value: b.Value}, Matches}, {Expectation{Cell: "r.a", Value: b.Value, Tolerance: 1}, Matches},
		{Expectation{Cell: "r.a", Text: "9,007,199,254,740,993"}, Matches}, {Expectation{Cell: "r.a", Above: cells("r.b")}, Holds}, {Expectation{Cell: "r.b", Above: cells("r.a")}, Broken},
		{Expectation{Cell: "r.a", Above: cells("r.b"), Margin: 2}, Broken}, {Expectation{Cell: "x", Order: cells("r.a r.b r.c")}, Holds}, {Expectation{Cell: "r.a", Sign: "positive"}, Holds},
	} {
		tab := &Table{Stubs: []string{"s"}, Rows: []Row{{ID: "r", Titles: []string{"r"}, Cells: map[string]Cell{"a": a, "b": b, "c": Number(3)}}}}
		for _, id := range []string{"a", "b", "c"} {
			tab.Columns = append(tab.Columns, Column{ID: id, Title: id, Format: Format{Style: "integer"}})
		}
		if checks, err := tab.Expect(c.e); err != nil || len(checks) != 1 || checks[0].Verdict != c.want {
			t.Errorf("%+v: %+v, %v; want %s", c.e, checks, err, c.want)
		}
		if _, err := tab.Expect(Expectation{Sum: cells("r.c r.a"), Value: b.Value}); err == nil || err.Error() != `expect "": "r.a" is 9007199254740993, more digits than sum is computed with: expect it as a text, or claim an order` {
			t.Errorf("%v", err)
		}
	}
	if value, text := a.Expected(Format{Style: "integer"}, 40); value != "" || text != "9,007,199,254,740,993" {
		t.Errorf("%q, %q", value, text)
	}
}
