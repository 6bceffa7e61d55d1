package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type tableConfig struct {
	Paper   string        `hcl:"paper,optional" help:"label of the table in the paper, such as tab:dedup-counts"`
	Caption string        `hcl:"caption,optional" help:"caption; like all texts it may have <b>, <i>, <tt>, <sc>, <sub> and <sup>"`
	Stubs   []string      `hcl:"stubs" help:"headers of the title columns at the left"`
	Columns []tableColumn `hcl:"columns" help:"columns of values"`
	Rows    []tableRow    `hcl:"rows" help:"rows, sections and rules, from top to bottom"`
	Notes   []string      `hcl:"notes,added" help:"notes below the table, such as what the rows' marks mean"`
	Wide    bool          `hcl:"wide,optional" help:"over both columns of a page"`
	Long    bool          `hcl:"long,added" help:"in LaTeX a longtable, which goes over pages, with the caption above it and the headers on each page; for documents of one column"`
	Scale   string        `hcl:"scale,optional" help:"scale of the run; what is expected at no scale by name is compared only at paper_scale, or if there is none"`
	AtScale string        `hcl:"paper_scale,added,nokey" help:"scale of the paper's numbers"`
	CSV     string        `hcl:"csv_formulas,added" enum:",quote" help:"\"quote\": in the CSV file an apostrophe is put before texts that a spreadsheet would take for formulas (= + - @, tab, line end)"`
	Marks   *significance `hcl:"significance,added" help:"superscripts for cells that differ significantly from baselines, and bold for cells that do not from the best; the caption then ends with the test"`
	Lacks   int           `hcl:"lacks,added" min:"0" help:"filled in: how many of the steps that it gathers failed, and are left out; the caption then says so"`
	Expect  []tableExpect `hcl:"expect,block,nokey" help:"what is expected of a cell, by the paper or at another scale, in exactly one form: a number, or a text; the label is ROW.COLUMN by their ids. Claims are about several"`
}

type tableColumn struct {
	ID       string   `hcl:"id" help:"name, for expect and traces"`
	Title    string   `hcl:"title" help:"header"`
	Groups   []string `hcl:"groups,optional" help:"headers over neighbouring columns, outermost first; bold where they say so by <b>"`
	From     string   `hcl:"from,optional" help:"which of a row's values the column reads; default: the row's value"`
	Field    string   `hcl:"field,optional" help:"path of the number or text in that JSON, with dots, elements of lists by number, names that have dots in '…', such as metrics.'map@0.5'; of a tree as FILE:PATH; default: the id. An object of mean, std and n is a cell with its deviation"`
	Minus    []string `hcl:"minus,optional" help:"two column ids whose difference this column is"`
	Format   string   `hcl:"format,optional" enum:"integer,fixed,kilo,signed,text" help:"how numbers are printed; text: as they are, in CSV as they are typed"`
	Decimals int      `hcl:"decimals,optional" help:"digits after the point"`
	Scale    float64  `hcl:"scale,optional" help:"factor before printing, such as 100 for percentages"`
	Std      bool     `hcl:"std,optional" help:"print ± sample standard deviation over seeds"`
	Best     string   `hcl:"best,optional" enum:",max,min" help:"print the best value bold, among rows with the same compare"`
	Second   bool     `hcl:"second,added" help:"underline the second best value, with best: the best value that is not bold"`
	Align    string   `hcl:"align,optional" enum:",l,c,r,decimal" help:"alignment; default r, for text l; decimal: at the decimal point, in LaTeX by siunitx, version 3"`
}

type tableRow struct {
	ID      string                 `hcl:"id,optional" help:"name, for expect and traces"`
	Section string                 `hcl:"section,optional" help:"a heading over all columns, instead of a row"`
	Center  bool                   `hcl:"center,optional" help:"whether the section is centered"`
	Rule    bool                   `hcl:"rule,optional" help:"a line between rows, instead of a row"`
	Space   bool                   `hcl:"space,optional" help:"a small space between rows, instead of a row"`
	Titles  []string               `hcl:"titles,optional" help:"one title per stub; none in a table without stubs"`
	Compare string                 `hcl:"compare,optional" help:"rows with the same word compete for bold"`
	Bold    []string               `hcl:"bold,optional" help:"ids of columns that are bold in this row whatever their values"`
	Marks   map[string]string      `hcl:"marks,added" help:"superscripts, such as the marks of notes, by column id"`
	Value   step.Inputs            `hcl:"value,optional" help:"JSON artifact that the cells read, or a list of them, one per seed: cells are then mean and standard deviation, of all or of none"`
	Values  map[string]step.Inputs `hcl:"values,optional" help:"the same by name, for columns with from"`
	Format  string                 `hcl:"format,optional" enum:",integer,fixed,kilo,signed,text" help:"how this row's numbers are printed, instead of the columns' format"`
	Digits  int                    `hcl:"decimals,optional" help:"digits after the point, with format"`
	Scale   float64                `hcl:"scale,optional" help:"factor before printing, with format"`
	Prefix  string                 `hcl:"prefix,added" help:"text before the row's numbers, with format: letters, digits, spaces and ="`
	Under   bool                   `hcl:"under,added" help:"whether, in LaTeX, the row's texts are set below the texts of the row above, in its line"`
	At      string                 `hcl:"at,optional" help:"object in the JSON that the fields are in; FILE: or FILE:PATH of a tree"`
	Fields  map[string]string      `hcl:"fields,optional" help:"paths that this row reads instead of the columns' fields, by column id"`
	Texts   map[string]string      `hcl:"texts,optional" help:"cells that are text, by column id"`
	Numbers map[string]float64     `hcl:"numbers,optional" help:"cells that are constants, such as published results, by column id"`
}

func (r tableRow) data() bool { return r.Section == "" && !r.Rule && !r.Space }

// fullScale is the paper's scale for tables and figures that declare none.
const fullScale = "full"

var Table = step.Define(step.Kind[tableConfig]{
	Name:    "render_table",
	Version: 9,
	Block:   true,
	Inline:  true,
	Doc: `Lay out a table block as Markdown, LaTeX, CSV and JSON.
Cells are numbers in JSON artifacts of other steps; a list of artifacts, one per
seed, becomes mean and standard deviation, or nothing where one of them is null. Where all of the list are one result, as of a
program that does not use its seed, Markdown, JSON and the report say so. Editing a caption or
a bold rule reruns only this. What is expected of the cells is in no key: editing it reruns
nothing, and ` + "`redsi check`" + `, ` + "`redsi report`" + ` and the end of a run judge it again.`,
	Example: `table "dedup_counts" {
  paper   = "tab:dedup-counts"
  stubs   = ["Grouping key"]
  columns = [{ id = "train", title = "Train", format = "integer", field = "documents.train" }]
  rows    = [{ id = "url", titles = ["<sc>URL</sc>"], value = step.dedup.nq["url"].counts }]
  expect "url.train" { value = 226180 }
}`,
	Outputs: []step.Output{
		{Name: "markdown", Type: "table/markdown", Help: "for reading", Alike: step.Follows{Output: "json"}},
		{Name: "latex", Type: "table/latex", Help: "booktabs, as in the paper", Alike: step.Follows{Output: "json"}},
		{Name: "csv", Type: "table/csv", Help: "values that are not rounded", Alike: step.Follows{Output: "json"}},
		{Name: "json", Type: "table/json", Help: "values, and the inputs of each cell", Alike: step.Cells{Units: 1}, Why: "a mean may round differently on another processor"},
	},
	Defaults: tableConfig{AtScale: fullScale},
	Check:    inout.Checks(checkTable),
	Reads:    tableConfig.reads,
	Cells:    tableConfig.cells,
	Run: func(_ context.Context, x *step.IO, c tableConfig) error {
		t, err := buildTable(x, c)
		if err != nil {
			return err
		}
		return inout.WriteAll(x, map[string]func(io.Writer) error{"markdown": t.Markdown, "latex": t.LaTeX, "csv": t.CSV, "json": t.JSON})
	},
})

// layout is the table without its values, which can be checked before a run.
func (c tableConfig) layout() *render.Table {
	t := &render.Table{Paper: c.Paper, Caption: render.Incomplete(c.Caption, c.Lacks), Stubs: c.Stubs, Notes: c.Notes, Wide: c.Wide, Long: c.Long, Lacks: c.Lacks, Scale: c.Scale, PaperScale: c.AtScale, QuoteFormulas: c.CSV == "quote"}
	for _, k := range c.Columns {
		f := render.Format{Style: cmp.Or(k.Format, "fixed"), Decimals: k.Decimals, Scale: k.Scale, Std: k.Std}
		t.Columns = append(t.Columns, render.Column{ID: k.ID, Title: k.Title, Groups: k.Groups, Format: f, Best: k.Best, Second: k.Second, Align: k.Align})
	}
	for _, r := range c.Rows {
		if r.data() && r.Titles == nil {
			r.Titles = []string{} // a table without stubs
		}
		t.Rows = append(t.Rows, render.Row{ID: r.ID, Section: r.Section, Center: r.Center, Rule: r.Rule, Space: r.Space, Titles: r.Titles, Under: r.Under,
			Compare: r.Compare, Cells: map[string]render.Cell{}})
	}
	return t
}

func (c tableConfig) hasColumn(id string) bool {
	return slices.ContainsFunc(c.Columns, func(k tableColumn) bool { return k.ID == id })
}

func checkTable(c tableConfig, ps *step.Problems) {
	for i, r := range c.Rows {
		forms := lists.Count([]bool{r.Section != "", r.Rule, r.Space, len(r.Titles) > 0 || len(c.Stubs) == 0 && r.data()}, func(is bool) bool { return is })
		at := fmt.Sprintf("rows[%d]", i)
		inout.Check(ps, at, forms == 1, "is exactly one of titles, section, rule and space")
		for _, id := range r.Bold {
			inout.Check(ps, at+".bold", c.hasColumn(id), "there is no column %q", id)
		}
		if r.Format != "" {
			inout.CheckError(ps, at+".format", render.Format{Style: r.Format, Decimals: r.Digits, Prefix: r.Prefix}.Check())
		}
		for _, id := range slices.Sorted(maps.Keys(r.Marks)) {
			inout.Check(ps, at+".marks", c.hasColumn(id), "there is no column %q", id)
			inout.CheckError(ps, at+".marks", checkMark(r.Marks[id]))
		}
		inout.Check(ps, at+".prefix", r.Prefix == "" || r.Format != "", "is for rows with format")
		inout.Check(ps, at+".center", !r.Center || r.Section != "", "is for a section")
		for _, text := range append([]string{r.Section}, r.Titles...) {
			inout.CheckError(ps, at, render.CheckMarkup(text))
		}
	}
	for i, k := range c.Columns {
		at := fmt.Sprintf("columns[%d]", i)
		needed := slices.ContainsFunc(c.Rows, func(r tableRow) bool { return r.data() && r.Format == "" })
		inout.Check(ps, at+".format", k.Format != "" || !needed, `is needed: "integer", "fixed", "kilo", "signed" or "text"`)
		inout.Check(ps, at+".minus", len(k.Minus) == 0 || len(k.Minus) == 2, "needs two column ids")
		for _, m := range k.Minus {
			inout.Check(ps, at+".minus", c.hasColumn(m), "there is no column %q", m)
		}
	}
	t := c.layout()
	inout.CheckError(ps, "rows", t.Finish())
	c.Marks.check(ps, c)
	expectProblems(ps, c.Expect, c.AtScale, t.Expect)
	inout.CheckError(ps, "caption", render.CheckMarkup(c.Caption))
	for i, note := range c.Notes {
		inout.CheckError(ps, fmt.Sprintf("notes[%d]", i), render.CheckMarkup(note))
	}
	inout.CheckError(ps, "paper", render.CheckLabel(c.Paper))
}

func buildTable(x *step.IO, c tableConfig) (*render.Table, error) {
	t := c.layout()
	docs := cells{inout.NewJSONInputs(x), x}
	for i, r := range c.Rows {
		if !r.data() {
			continue
		}
		for _, k := range c.Columns {
			cell, err := docs.cell(r, k)
			if err != nil {
				return nil, step.Permanent(fmt.Errorf("row %s, column %s: %w", r.ID, k.ID, err))
			}
			if r.Format != "" {
				cell.Format = &render.Format{Style: r.Format, Decimals: r.Digits, Scale: r.Scale, Std: k.Std, Prefix: r.Prefix}
			}
			if f := cmp.Or(r.Format, k.Format); f != "text" && !values.Inexact(cell.Typed) {
				cell.Typed = ""
			}
			if !cell.Missing() {
				t.Rows[i].Cells[k.ID] = cell
			}
		}
		for _, k := range c.Columns {
			if len(k.Minus) != 2 {
				continue
			}
			a, b := t.Rows[i].Cells[k.Minus[0]], t.Rows[i].Cells[k.Minus[1]]
			if a.Value != nil && b.Value != nil {
				d := render.Number(a.Minus(b))
				d.Inputs = append(slices.Clone(a.Inputs), b.Inputs...)
				t.Rows[i].Cells[k.ID] = d
			}
		}
		for id, cell := range t.Rows[i].Cells {
			cell.Bold, cell.Marks = slices.Contains(r.Bold, id), r.Marks[id]
			t.Rows[i].Cells[id] = cell
		}
	}
	err := c.Marks.mark(docs, t, c)
	if err == nil {
		err = t.Finish()
	}
	return t, step.Permanent(err)
}

func (r tableRow) inputs(k tableColumn) step.Inputs {
	if k.From != "" {
		return r.Values[k.From]
	}
	return r.Value
}

// reads returns the path that a column reads in the row's inputs, below the row's at; false for a constant.
func (r tableRow) reads(k tableColumn) (path string, ok bool) {
	_, text := r.Texts[k.ID]
	_, number := r.Numbers[k.ID]
	if text || number || len(k.Minus) > 0 {
		return "", false
	}
	if f, ok := r.Fields[k.ID]; ok {
		return f, true
	}
	return cmp.Or(k.Field, k.ID), true
}

func (d cells) cell(r tableRow, k tableColumn) (render.Cell, error) {
	if s, ok := r.Texts[k.ID]; ok {
		return render.Cell{Text: s}, render.CheckMarkup(s)
	}
	if v, ok := r.Numbers[k.ID]; ok {
		return render.Number(v), nil
	}
	path, ok := r.reads(k)
	if !ok {
		return render.Cell{}, nil
	}
	path = step.Read{Under: r.At, Path: path}.Field()
	return d.read(r.inputs(k), path, 1, true, cmp.Or(r.Format, k.Format) == "text")
}

// read sums up a field of the inputs, one per seed: the mean of the numbers times a factor, or the text that all
// have. With means, the field of a single input may be a mean with its deviation. A missing number, or one that is
// not finite, leaves no value; with texts a single one is shown as its file has it.
func (d cells) read(ins step.Inputs, path string, factor float64, means, texts bool) (render.Cell, error) {
	var vs []float64
	var digests, words []string
	var lost step.Input
	typed := ""
	for _, in := range ins {
		at, err := d.Look(in, path)
		if err != nil {
			return render.Cell{}, err
		}
		from := in.Artifact.Digest.String()
		if a, ok := at.(inout.Absent); ok && means {
			d.x.Count("cells "+render.AbsentText, 1)
			cell := render.Absent(a.Why)
			cell.Inputs = []string{from}
			return cell, nil
		}
		if v, ok := at.(inout.NotFinite); ok && texts && v.Text != "" && len(ins) == 1 {
			return render.Cell{Text: v.Text, Data: true, Inputs: []string{from}}, nil
		} else if ok {
			d.Told(in, path, inout.IsNotFinite)
			return render.Cell{}, nil // a mean would not be finite either
		}
		if cell, ok := inout.Summary(at); ok && means && len(ins) == 1 {
			if cell.Missing() {
				d.Told(in, path+".mean", inout.IsNotFinite)
			}
			cell.Inputs = []string{from}
			return cell, nil
		}
		v, text, ok, err := inout.Scalar(at, path)
		switch {
		case err != nil:
			return render.Cell{}, err
		case !ok:
			lost = in
			continue
		case text != "":
			words = append(words, text)
		default:
			vs = append(vs, v*factor)
		}
		digests = append(digests, from)
		if t, ok := at.(inout.Typed); ok && means && len(ins) == 1 {
			typed = t.Text
		} else if len(ins) == 1 {
			typed = allDigits(at, factor)
		}
	}
	switch {
	case len(words) > 0 && (len(vs) > 0 || slices.ContainsFunc(words, func(w string) bool { return w != words[0] })):
		return render.Cell{}, fmt.Errorf("field %q is the text %.40q in one of the %d artifacts and something else in another: only numbers have a mean, so name one artifact for it", path, words[0], len(ins))
	case len(digests) > 0 && len(digests) < len(ins):
		d.Told(lost, path, "null, beside values of other artifacts")
		return render.Cell{}, nil
	case len(words) > 0:
		return render.Cell{Text: words[0], Data: true, Inputs: digests}, nil
	}
	cell := render.Mean(vs)
	cell.Typed, cell.Inputs = typed, digests
	cell.One = len(digests) > 1 && len(slices.Compact(slices.Clone(digests))) == 1
	return cell, nil
}

func (c tableConfig) reads() (list []step.Read) {
	for i, r := range c.Rows {
		if !r.data() {
			continue
		}
		for j, k := range c.Columns {
			field, ok := r.reads(k)
			if !ok {
				continue
			}
			attr := fmt.Sprintf("columns[%d].id", j)
			switch {
			case r.Fields[k.ID] != "":
				attr = fmt.Sprintf("rows[%d].fields[%q]", i, k.ID)
			case k.Field != "":
				attr = fmt.Sprintf("columns[%d].field", j)
			}
			for _, in := range r.inputs(k) {
				if r.At != "" {
					list = append(list, step.Read{Attr: fmt.Sprintf("rows[%d].at", i), Input: in, Path: r.At})
				}
				list = append(list, step.Read{Attr: attr, Input: in, Under: r.At, Path: field, Check: cellField, Of: c.cellsOf(r, k)})
			}
		}
	}
	return append(list, c.Marks.reads(c)...)
}

// cellsOf names the cell of a row and column, and the row's differences of which it is a term.
func (c tableConfig) cellsOf(r tableRow, k tableColumn) []string {
	of := lists.Filter(c.Columns, func(m tableColumn) bool { return slices.Contains(m.Minus, k.ID) })
	return lists.Map(append([]tableColumn{k}, of...), func(m tableColumn) string { return r.ID + "." + m.ID })
}

// reads returns the fields that a figure's points, panels and stages come from.
func (c figureConfig) reads() (list []step.Read) {
	read := func(attr string, in step.Input, under, path string, check func(*step.Fields) error, of ...string) {
		if in.Set() {
			list = append(list, step.Read{Attr: attr, Input: in, Under: under, Path: path, Check: check, Of: of})
		}
	}
	number := func(at string, n figureNumber, of string) {
		for _, in := range n.Value {
			under := ""
			if n.List != "" {
				read(at+".list", in, "", n.List, listField)
				under = n.List + ".0"
			}
			for _, attr := range [][2]string{{".field", n.Field}, {".low", n.Low}, {".high", n.High}} {
				if attr[1] != "" {
					read(at+attr[0], in, under, attr[1], numberField, of)
				}
			}
		}
	}
	for i, s := range c.Series {
		at := fmt.Sprintf("series[%d]", i)
		for j, p := range s.Points {
			number(fmt.Sprintf("%s.points[%d].x", at, j), p.X, s.ID+"."+p.ID+".x")
			number(fmt.Sprintf("%s.points[%d].y", at, j), p.Y, s.ID+"."+p.ID+".y")
		}
		if k := s.Curve; k != nil {
			read(at+".curve.list", k.Value, "", k.list(), listField)
			check := numberField
			if c.X != nil && c.X.Category != nil {
				check = scalarField
			}
			read(at+".curve.x", k.Value, k.list()+".0", k.X, check)
			read(at+".curve.y", k.Value, k.list()+".0", k.Y, numberField)
		}
	}
	if k := c.Curves; k != nil {
		for _, name := range slices.Sorted(maps.Keys(k.Of)) {
			read("curves.of["+strconv.Quote(name)+"]", k.Of[name], "", "points", listField)
			read("curves.x", k.Of[name], "points.0", cmp.Or(k.X, "step"), numberField)
			read("curves.y", k.Of[name], "points.0", k.Y, numberField)
		}
	}
	for i, p := range c.Panels {
		read(fmt.Sprintf("panels[%d].field", i), p.Value, "", p.Field, scalarField)
	}
	for i, s := range c.Flow {
		read(fmt.Sprintf("flow[%d].field", i), s.Value, "", s.Field, nil)
	}
	return list
}

// cellField refuses fields that a cell cannot show; it shows a number, a text, or a mean with its deviation.
func cellField(f *step.Fields) error {
	if f.Type == step.Object && !slices.ContainsFunc([]string{"mean", "std", "n"}, func(name string) bool {
		at, err := f.At(name)
		return err != nil || numberField(at) != nil
	}) {
		return nil
	}
	return scalarField(f)
}

func scalarField(f *step.Fields) error {
	switch f.Type {
	case step.Object:
		var names []string
		for name := range f.All() {
			names = append(names, name)
		}
		return fmt.Errorf("is an object, not a number or a text; name one of its fields: %s", strings.Join(names, ", "))
	case step.List, step.Map:
		return fmt.Errorf("is a %s, not a number or a text; name one of its elements", f.Type)
	}
	return nil
}

func numberField(f *step.Fields) error {
	if f.Type == step.String || f.Type == step.Bool {
		return fmt.Errorf("is of type %s, not a number", f.Type)
	}
	return scalarField(f)
}

func listField(f *step.Fields) error {
	if f.Type != step.List && f.Type != step.Any {
		return errors.New("is not a list")
	}
	return nil
}
