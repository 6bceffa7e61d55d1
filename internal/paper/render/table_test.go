package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// sample has every element a table can have.
func sample() *Table {
	v := func(x float64) Cell { return Number(x) }
	t := &Table{
		Paper: "tab:sample", Caption: "All of it: <sc>Title</sc>, 5 %, a_b & <b>bold</b>.", Wide: true,
		Stubs: []string{"Configuration", "Model"},
		Columns: []Column{
			{ID: "h1", Title: "H@1", Groups: []string{"<b>Atomic</b>"}, Format: Format{Style: "fixed", Decimals: 1, Scale: 100}},
			{ID: "mrr", Title: "MRR@10", Groups: []string{"<b>Atomic</b>"}, Format: Format{Style: "fixed", Decimals: 2, Std: true}, Best: "max"},
			{ID: "delta", Title: "Δ", Groups: []string{"Naive"}, Format: Format{Style: "signed", Decimals: 2}},
			{ID: "n", Title: "|D|", Format: Format{Style: "integer"}},
			{ID: "note", Title: "Note", Format: Format{Style: "text"}},
		},
		Rows: []Row{
			{Section: "<i>First</i>"},
			{Section: "<sc>Title</sc>", Center: true},
			{ID: "a", Titles: []string{"<sc>Title</sc>", "Base"}, Compare: "base", Cells: map[string]Cell{
				"h1": v(0.62), "mrr": Mean([]float64{68.7, 68.9, 68.8}), "delta": v(-0.4), "n": v(109739), "note": {Text: "<tt>x_y</tt>"}}},
			{ID: "b", Titles: []string{"<sc>Title</sc>", "Tiny"}, Compare: "tiny", Cells: map[string]Cell{
				"mrr": v(62.2), "delta": v(0), "note": {Text: "'' <b> $", Data: true}}},
			{Space: true},
			{Rule: true},
			{ID: "c", Titles: []string{"<sc>PageID</sc>", "Base"}, Compare: "base", Cells: map[string]Cell{"mrr": v(69.8), "n": {Value: new(float64), Format: &Format{Style: "kilo", Decimals: 1}}}},
		},
	}
	*t.Rows[6].Cells["n"].Value = 109229
	return t
}

// ranked has columns that are aligned at the decimal point, with what can stand in them, second bests, marks and notes.
func ranked() *Table {
	kilos := func(x float64) Cell { return Cell{Value: &x, Format: &Format{Style: "kilo", Decimals: 2}} }
	marked := func(x float64, marks string) Cell { return Cell{Value: &x, N: 1, Marks: marks} }
	mean := func(of ...float64) Cell { return Mean(of) }
	return &Table{
		Paper: "tab:ranked", Caption: "Ranked. <b>Incomplete: 2 steps failed and left out.</b>", Stubs: []string{"System"}, Lacks: 2,
		Notes: []string{"<sup>*</sup> As published, in 100 % of runs.", "# is a number."},
		Columns: []Column{
			{ID: "mrr", Title: "MRR", Groups: []string{"Dev"}, Format: Format{Style: "fixed", Decimals: 1, Std: true}, Best: "max", Second: true, Align: "decimal"},
			{ID: "less", Title: "Less", Groups: []string{"Dev"}, Format: Format{Style: "signed", Decimals: 2}, Best: "min", Second: true, Align: "decimal"},
			{ID: "n", Title: "N", Format: Format{Style: "integer"}, Best: "max", Second: true, Align: "decimal"},
			{ID: "r", Title: "R", Format: Format{Style: "fixed", Decimals: 1}, Best: "max", Second: true},
		},
		Rows: []Row{
			{ID: "a", Titles: []string{"A"}, Cells: map[string]Cell{"mrr": mean(62.1, 62.3), "less": marked(-0.4, "a"), "n": Number(1234567), "r": Number(2)}},
			{ID: "b", Titles: []string{"B"}, Cells: map[string]Cell{"mrr": mean(68.0, 68.2), "less": marked(0, ""), "n": Number(-1234), "r": Number(-3)}},
			{ID: "c", Titles: []string{"C"}, Cells: map[string]Cell{"mrr": mean(8.1, 8.1), "less": marked(-11.25, "ab"), "n": Number(99999), "r": Mean([]float64{1, 2})}},
			{ID: "d", Titles: []string{"D"}, Cells: map[string]Cell{"mrr": mean(62.2), "less": {Text: "<i>none</i>"}, "r": Number(2)}},
			{ID: "e", Titles: []string{"E"}, Cells: map[string]Cell{"mrr": mean(68.1), "n": kilos(1500), "less": kilos(-226180)}},
			{ID: "f", Titles: []string{"F"}, Compare: "apart", Cells: map[string]Cell{"mrr": {Value: num(7), Marks: "*", Format: &Format{Style: "integer", Prefix: "n = "}}, "n": Number(7), "less": marked(1, "")}},
		},
	}
}

func TestLayouts(t *testing.T) {
	long := ranked()
	long.Long, long.Lacks = true, 0
	long.Columns = append(long.Columns, Column{ID: "text", Title: "Text", Format: Format{Style: "text"}})
	long.Rows[0].Cells["text"] = Cell{Text: strings.Repeat("word ", 9), Data: true}
	for name, tab := range map[string]*Table{"sample": sample(), "ranked": ranked(), "long": long} {
		testkit.None(t, tab.Finish())
		for end, write := range map[string]func(io.Writer) error{"md": tab.Markdown, "tex": tab.LaTeX, "csv": tab.CSV, "json": tab.JSON} {
			if name == "long" && end != "tex" {
				continue
			}
			var b bytes.Buffer
			testkit.None(t, write(&b))
			goldens.Same(t, "testdata/"+name+"."+end, b.String())
			if end != "json" {
				continue
			}
			if name == "ranked" {
				if got, want := tab.Rows[3].Cells["mrr"].HTML(tab.Columns[0].Format), "<u>62.2</u>\u2007\u2007\u2007\u2007\u2008\u2007"; got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
			again := new(Table)
			var out bytes.Buffer
			testkit.None(t, errors.Join(json.Unmarshal(b.Bytes(), again), again.Finish(), again.JSON(&out)))
			testkit.Is(t, out.String(), b.String(), name)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		f    Format
		v    float64
		want string
	}{
		{Format{Style: "integer"}, 1234567, "1,234,567"},
		{Format{Style: "integer"}, -999.6, "−1,000"},
		{Format{Style: "integer"}, -0.4, "0"},
		{Format{Style: "fixed", Decimals: 1}, -3.2, "−3.2"},
		{Format{Style: "fixed", Decimals: 1}, -0.04, "0.0"},
		{Format{Style: "kilo", Decimals: 1}, -3, "0.0 K"},
		{Format{Style: "text"}, -0.5, "-0.5"},
		{Format{Style: "fixed", Decimals: 2}, 1.005, "1.01"}, // 1.00499… in binary: people round its decimals
		{Format{Style: "fixed", Decimals: 1, Scale: 100}, 0.8125, "81.3"},
		{Format{Style: "fixed", Decimals: 0}, 0.4, "0"},
		{Format{Style: "kilo", Decimals: 1}, 198202, "198.2 K"},
		{Format{Style: "signed", Decimals: 2}, -0.4, "−0.40"},
		{Format{Style: "signed", Decimals: 2}, -0.001, "+0.00"},
		{Format{Style: "text"}, 100041502, "100041502"},
		{Format{Style: "text"}, 0.25, "0.25"},
	} {
		testkit.Is(t, c.f.number(c.v), c.want, c.f, c.v)
	}
}

// TestOneMinus: a negative number has the same minus in all forms, and the hyphen of programs in CSV.
func TestOneMinus(t *testing.T) {
	std := 12.0
	for _, c := range []struct {
		cell                 Cell
		f                    Format
		latex, markdown, csv string
	}{
		{Number(-3.2), Format{Style: "fixed", Decimals: 1}, "$-$3.2", "−3.2", "-3.2"},
		{Number(-1234), Format{Style: "integer"}, "$-$1,234", "−1,234", "-1234"},
		{Number(-226180), Format{Style: "kilo", Decimals: 1}, `$-$226.2\,K`, "−226.2 K", "-226180"},
		{Number(-0.5), Format{Style: "signed", Decimals: 1}, "$-0.5$", "−0.5", "-0.5"},
		{Number(-3), Format{Style: "integer", Prefix: "n = "}, "n = $-$3", "n = −3", "-3"},
		{Number(-0.5), Format{Style: "signed", Decimals: 1, Prefix: "by "}, "by $-0.5$", "by −0.5", "-0.5"},
		{Cell{Value: num(-1234), Std: &std}, Format{Style: "integer", Std: true}, `$-1{,}234 \pm 12$`, "−1,234 ± 12", "-1234"},
		{Cell{Value: num(-226180), Std: &std, Bold: true}, Format{Style: "kilo", Decimals: 2, Std: true}, `$\mathbf{-226.18 \pm 0.01\,\mathrm{K}}$`, "**−226.18 K ± 0.01 K**", "-226180"},
		{integerCell("-9007199254740993", -1<<53), Format{Style: "kilo", Decimals: 3}, `$-$9007199254740.993\,K`, "−9007199254740.993 K", "-9007199254740993"},
		{integerCell("-9007199254740993", -1<<53), Format{Style: "fixed", Decimals: 1, Scale: 1e-20}, "0.0", "0.0", "-9007199254740993"},
		{integerCell("9007199254740993", 1<<53), Format{Style: "signed"}, "$+9007199254740993$", "+9007199254740993", "9007199254740993"},
	} {
		html := strings.NewReplacer("**−", "<b>−", "K**", "K</b>").Replace(c.markdown)
		csv := c.cell.csv(false, func(s string) string { return s })[0]
		if c.cell.latex(c.f) != c.latex || c.cell.markdown(c.f) != c.markdown || c.cell.HTML(c.f) != html || csv != c.csv {
			t.Errorf("%+v: %q, %q, %q, %q, want %q, %q, %q", c.f, c.cell.latex(c.f), c.cell.markdown(c.f), c.cell.HTML(c.f), csv, c.latex, c.markdown, c.csv)
		}
	}
	for _, style := range []string{"integer", "fixed", "kilo", "signed", "text"} {
		f := Format{Style: style, Scale: -1}
		inline := Named{Cell: Number(0), Format: f}.Inline()
		if value, _ := Number(0).Expected(f, 9); value != "0" || strings.Contains(inline.Value+inline.TeX, "-") {
			t.Errorf("%s: 0 turned is %s, %+v", style, value, inline)
		}
	}
	if value, _ := Number(-3).Expected(Format{Style: "kilo", Decimals: 1}, 9); value != "0" {
		t.Errorf("-3 in thousands is expected as %s", value)
	}
	if !SameText("-3.2", "−3.2") {
		t.Error("a minus that is typed as a hyphen is another text")
	}
}

func TestMistakes(t *testing.T) {
	for want, spoil := range map[string]func(*Table){
		"two columns have the id": func(t *Table) { t.Columns[1].ID = "h1" },
		"which does not exist":    func(t *Table) { t.Rows[2].Cells["zz"] = Number(1) },
		"has 1 titles for 2":      func(t *Table) { t.Rows[2].Titles = t.Rows[2].Titles[:1] },
		"two rows have the id":    func(t *Table) { t.Rows[3].ID = "a" },
		"is not integer, fixed":   func(t *Table) { t.Columns[0].Format.Style = "percent" },
		"none above it":           func(t *Table) { t.Rows[2].Under = true },
		"prefix \"a_b\"":          func(t *Table) { t.Columns[0].Format.Prefix = "a_b" },
		"best is max or min":      func(t *Table) { t.Columns[0].Best = "most" },
		"second needs best":       func(t *Table) { t.Columns[0].Second = true },
		"l, c, r or decimal":      func(t *Table) { t.Columns[0].Align = "." },
		"is for numbers, not for": func(t *Table) { t.Columns[4].Align = "decimal" },
	} {
		tab := sample()
		spoil(tab)
		testkit.ErrSays(t, tab.Finish(), want)
	}
	for _, cell := range []string{"a", "zz.h1", "a.zz"} {
		_, err := sample().Expect(Expectation{Cell: cell, Value: new(1.0)})
		testkit.Some(t, err, cell)
	}
	for _, m := range []string{"<b>", "</b>", "<b><i></b></i>"} {
		if CheckMarkup(m) == nil {
			t.Errorf("markup %q was taken", m)
		}
	}
}

func TestMean(t *testing.T) {
	c := Mean([]float64{42, 44, 46})
	if *c.Value != 44 || *c.Std != 2 || c.N != 3 {
		t.Fatalf("%v ± %v (%d)", *c.Value, *c.Std, c.N)
	}
	if one := Mean([]float64{42}); one.Std != nil || *one.Value != 42 {
		t.Fatal("one value has a standard deviation")
	}
	if !Mean(nil).Missing() {
		t.Fatal("no values are not missing")
	}
	b, _ := json.Marshal(Number(1))
	if string(b) != `{"value":1,"n":1}` {
		t.Fatal(string(b))
	}
}
