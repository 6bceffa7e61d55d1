package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/internal/system/words"
)

// Table is a table with its cells, ready to be laid out.
type Table struct {
	Name    string   `json:"name"`
	Paper   string   `json:"paper,omitempty"`   // label in the paper, such as tab:dedup-counts
	Caption string   `json:"caption,omitempty"` // with markup
	Stubs   []string `json:"stubs"`             // headers of the title columns at the left
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
	Notes   []string `json:"notes,omitempty"` // below the table, with markup
	Wide    bool     `json:"wide,omitempty"`  // over both columns of a page
	Long    bool     `json:"long,omitempty"`  // in LaTeX, over several pages
	Lacks   int      `json:"lacks,omitempty"` // failed steps that it would gather
	Scale   string   `json:"scale,omitempty"` // of the run; see PaperScale

	// PaperScale is the scale of the paper's numbers: runs at another scale are not compared with them, runs without one are.
	PaperScale string `json:"-"`

	QuoteFormulas bool `json:"-"` // in CSV, texts that a spreadsheet would calculate
}

// Column is one column of values.
type Column struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Groups []string `json:"groups,omitempty"` // headers above the title, outermost first, with markup
	Format Format   `json:"format"`
	Best   string   `json:"best,omitempty"`   // "max" or "min": bold among rows of one Compare
	Second bool     `json:"second,omitempty"` // the best value that is not bold is underlined
	Align  string   `json:"align,omitempty"`  // l, c, r or decimal; default r, l for text
}

// Row is a line of the table, or a mark between lines: exactly one of Section, Rule, Space and Titles is set.
type Row struct {
	ID      string          `json:"id,omitempty"`
	Section string          `json:"section,omitempty"` // a heading over all columns
	Center  bool            `json:"center,omitempty"`  // the section stands in the middle
	Rule    bool            `json:"rule,omitempty"`
	Space   bool            `json:"space,omitempty"`
	Titles  []string        `json:"titles,omitzero"` // one per stub
	Under   bool            `json:"under,omitempty"` // in LaTeX, below the texts of the row above, in its line
	Compare string          `json:"compare,omitempty"`
	Cells   map[string]Cell `json:"cells,omitempty"` // by column ID
}

// Cell is a number, a text, or nothing yet.
type Cell struct {
	Value  *float64 `json:"value,omitempty"`
	Std    *float64 `json:"std,omitempty"`    // sample standard deviation
	N      int      `json:"n,omitempty"`      // values that Value is the mean of
	Typed  string   `json:"typed,omitempty"`  // Value as its file has it, if a float64 is written differently
	One    bool     `json:"one,omitempty"`    // all N are of one result, so that Std is no deviation
	Text   string   `json:"text,omitempty"`   // with markup; used where Value is nil
	Data   bool     `json:"data,omitempty"`   // Text is data: no markup in it
	Format *Format  `json:"format,omitempty"` // instead of the column's
	Bold   bool     `json:"bold,omitempty"`
	Second bool     `json:"second,omitempty"` // underlined
	Inputs []string `json:"inputs,omitempty"` // artifact digests that the cell comes from
	Marks  string   `json:"marks,omitempty"`  // superscript after a number: of a note, or of what it differs from significantly
	Absent string   `json:"absent,omitempty"` // why the data lack what the cell asks for; see Absent

	isPending bool   // the steps that give it a value have not run
	fill      string // room behind it in Markdown and HTML, in a column that is aligned at the decimal point
}

// AbsentText is shown for an example that the data lack: the paper's are not in everybody's files.
const AbsentText = "not in these files"

// Absent returns the cell of something that the data lack, and why.
func Absent(why string) Cell { return Cell{Text: AbsentText, Data: true, Absent: why} }

// Missing reports whether the cell has nothing to show.
func (c Cell) Missing() bool { return c.Value == nil && c.Text == "" }

func (c Cell) format(column Format) Format { return *cmp.Or(c.Format, &column) }

// Number returns a cell of one value.
func Number(v float64) Cell { return Cell{Value: &v, N: 1} }

// Mean returns a cell of several values: their mean and, from two on, sample standard deviation.
func Mean(vs []float64) Cell {
	if len(vs) == 0 {
		return Cell{}
	}
	mean, std := values.MeanStd(vs)
	c := Cell{Value: &mean, N: len(vs)}
	if len(vs) > 1 {
		c.Std = &std
	}
	return c
}

// OfOne says which cells print a deviation that is none; "" if there is no such cell.
func (t *Table) OfOne() string {
	names := ""
	for _, r := range t.Rows {
		for _, k := range t.Columns {
			if c := r.Cells[k.ID]; c.One && c.format(k.Format).Std {
				names += ", " + r.ID + "." + k.ID
			}
		}
	}
	if names == "" {
		return ""
	}
	return names[2:] + ofOne
}

// ofOne is said of cells whose N values are of one result.
const ofOne = ": the ± is of one result several times, since all that the mean is over has the same bytes"

// Incomplete returns the caption of a table or figure that lacks so many of the steps that it gathers.
func Incomplete(caption string, lacks int) string {
	if lacks == 0 {
		return caption
	}
	return strings.TrimSpace(fmt.Sprintf("%s <b>Incomplete: %s failed and left out.</b>", caption, words.Count(lacks, "step")))
}

// Lacking says in a table, unless it says so already, that the data that it reads lack so many steps.
func (t *Table) Lacking(lacks int) {
	if t.Lacks == 0 {
		t.Caption, t.Lacks = Incomplete(t.Caption, lacks), lacks
	}
}

// ReadTable reads the JSON of a table and finishes it.
func ReadTable(text []byte) (*Table, error) {
	t := &Table{}
	err := json.Unmarshal(text, t)
	if err == nil {
		err = t.Finish()
	}
	return t, err
}

// Finish checks the table, and marks the best and second best cells, as printed, among the rows with one Compare.
func (t *Table) Finish() error {
	ids := map[string]bool{}
	t.levelGroups()
	for _, c := range t.Columns {
		err := c.Format.Check()
		switch {
		case ids[c.ID]:
			return fmt.Errorf("two columns have the id %q", c.ID)
		case c.Best != "" && c.Best != "max" && c.Best != "min":
			return fmt.Errorf("column %s: best is max or min, not %q", c.ID, c.Best)
		case err != nil:
			return fmt.Errorf("column %s: %w", c.ID, err)
		case c.Second && c.Best == "":
			return fmt.Errorf("column %s: second needs best, max or min", c.ID)
		case !slices.Contains([]string{"", "l", "c", "r", atPoint}, c.Align):
			return fmt.Errorf("column %s: align is l, c, r or decimal, not %q", c.ID, c.Align)
		case c.Align == atPoint && c.Format.Style == "text":
			return fmt.Errorf("column %s: align = \"decimal\" is for numbers, not for the format text", c.ID)
		}
		ids[c.ID] = true
	}
	rows := map[string]bool{}
	for i, r := range t.Rows {
		switch {
		case r.Titles == nil:
			continue
		case r.Under && (i == 0 || t.Rows[i-1].Titles == nil):
			return fmt.Errorf("row %d must be set under a row, and there is none above it", i+1)
		case len(r.Titles) != len(t.Stubs):
			return fmt.Errorf("row %d has %d titles for %d stub columns", i+1, len(r.Titles), len(t.Stubs))
		case r.ID != "" && rows[r.ID]:
			return fmt.Errorf("two rows have the id %q", r.ID)
		}
		rows[r.ID] = true
		for id, cell := range r.Cells {
			if !ids[id] {
				return fmt.Errorf("row %s has a cell in column %q, which does not exist", r.ID, id)
			}
			if err := cell.format(Format{Style: "text"}).Check(); err != nil {
				return fmt.Errorf("row %s, column %s: %w", r.ID, id, err)
			}
		}
	}
	for _, c := range t.Columns {
		if c.Best != "" {
			t.emphasize(c, false)
		}
		if c.Second {
			t.emphasize(c, true)
		}
		if c.Align == atPoint {
			t.fill(c)
		}
	}
	return nil
}

// levelGroups gives all columns as many header groups; "" is no header.
func (t *Table) levelGroups() {
	levels := 0
	for _, c := range t.Columns {
		levels = max(levels, len(c.Groups))
	}
	for i, c := range t.Columns {
		t.Columns[i].Groups = append(slices.Clip(c.Groups), make([]string, levels-len(c.Groups))...)
	}
}

// Best returns the first row of a column's best number, or of the best that is not bold, by the rows' Compare.
func (t *Table) Best(c Column, second bool) map[string]int {
	best := map[string]int{}
	for i, r := range t.Rows {
		v := r.Cells[c.ID]
		if v.Value == nil || second && v.Bold {
			continue
		}
		b, ok := best[r.Compare]
		if !ok || c.Best == "max" && v.Minus(t.Rows[b].Cells[c.ID]) > 0 || c.Best == "min" && v.Minus(t.Rows[b].Cells[c.ID]) < 0 {
			best[r.Compare] = i
		}
	}
	return best
}

// emphasize prints the best cells and all that print the same bold, or underlines the second best.
func (t *Table) emphasize(c Column, second bool) {
	best := t.Best(c, second)
	for _, r := range t.Rows {
		cell := r.Cells[c.ID]
		if cell.Value == nil || second && cell.Bold {
			continue
		}
		if f := cell.format(c.Format); cell.number(f) == t.Rows[best[r.Compare]].Cells[c.ID].number(f) {
			cell.Bold, cell.Second = !second, second
			r.Cells[c.ID] = cell
		}
	}
}
