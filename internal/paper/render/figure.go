package render

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/words"
)

// Figure is a picture with the data behind it, in exactly one of four forms: series over axes, columns of text, a flow of
// stages, or files that a step drew.
type Figure struct {
	Paper   string   `json:"paper,omitempty"`   // label in the paper, such as fig:model-scaling
	Caption string   `json:"caption,omitempty"` // with markup
	Scale   string   `json:"scale,omitempty"`   // of the run; see PaperScale
	Width   float64  `json:"width"`             // cm
	Height  float64  `json:"height,omitempty"`  // cm; panels and flows are as high as their content
	X       *Axis    `json:"x,omitempty"`
	Y       *Axis    `json:"y,omitempty"`
	Y2      *Axis    `json:"y2,omitempty"` // at the right
	Series  []Series `json:"series,omitempty"`
	Keys    []Key    `json:"keys,omitempty"`
	Panels  []Panel  `json:"panels,omitempty"`
	Flow    []Stage  `json:"flow,omitempty"`
	Heat    *Heat    `json:"heat,omitempty"` // series are rows of a heat map: categories over colors, which y measures
	Curves  []string `json:"-"`              // ids of series whose points come with the data

	Image map[string]ImageFile `json:"image,omitempty"` // files that a step drew, by format, which is the output's name

	// PaperScale is the scale of the paper's numbers: runs at another scale are not compared with them, runs without one are.
	PaperScale string `json:"-"`

	QuoteFormulas bool `json:"-"` // in CSV, texts that a spreadsheet would calculate
}

// Axis is an axis. Min and Max are what it shows at least: data outside widen it.
type Axis struct {
	Title    string   `json:"title"`
	Min      *float64 `json:"min,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	Log2     bool     `json:"log2,omitempty"`
	Log10    bool     `json:"log10,omitempty"`
	Ticks    []Tick   `json:"ticks,omitempty"`
	Decimals int      `json:"decimals,omitempty"` // digits that the paper gives of its numbers

	Categories []string `json:"categories,omitempty"` // of x, in place of numbers: they stand at 0, 1, 2, …
}

// Tick is a labelled place on an axis.
type Tick struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// Heat is the data of a heat map apart from its rows, the series.
type Heat struct {
	Rows   string `json:"rows,omitempty"`   // title of the rows
	Labels bool   `json:"labels,omitempty"` // each cell has its number
}

// Series is a line, a set of marks, or both; bars or boxes; or a row of a heat map.
type Series struct {
	ID     string  `json:"id"`
	Title  string  `json:"title,omitempty"` // in the legend; "" leaves the series out of it
	Color  string  `json:"color"`           // a name of Colors, or "#rrggbb"
	Line   string  `json:"line"`            // "solid", "dashed", "dotted", "dash-dot" or "none"
	Draw   string  `json:"draw,omitempty"`  // "bars" or "box" in place of line and markers
	Over   string  `json:"over,omitempty"`  // id of the series on whose bars or boxes its marks stand
	Right  bool    `json:"right,omitempty"` // measured on Y2
	Points []Point `json:"points"`
}

// Point is a place of a series; a point without a value is not drawn.
type Point struct {
	ID     string `json:"id"`
	X      Cell   `json:"x"`
	Y      Cell   `json:"y"`
	Marker string `json:"marker,omitempty"` // "square", "triangle", "circle", "diamond" or "none"
	Hollow bool   `json:"hollow,omitempty"`

	Low     *float64  `json:"low,omitempty"` // ends of the whisker of a box or an interval, in place of the deviation
	High    *float64  `json:"high,omitempty"`
	Q1      *float64  `json:"q1,omitempty"` // quartiles of a box, whose median is Y
	Q3      *float64  `json:"q3,omitempty"`
	Outside []float64 `json:"outside,omitempty"` // values beyond a box's whiskers
	Width   float64   `json:"width,omitempty"`   // of a bar, in numbers of x; 0 leaves it to the picture
}

// Key is an entry of the legend that no series has: the meaning of a marker.
type Key struct {
	Title  string `json:"title"`
	Color  string `json:"color"`
	Line   string `json:"line"`
	Marker string `json:"marker"`
	Hollow bool   `json:"hollow,omitempty"`
}

// Panel is a column of monospaced text.
type Panel struct {
	Heading string   `json:"heading"` // with markup
	Text    string   `json:"text"`    // data, cut to the budget
	Cut     int      `json:"cut,omitempty"`
	Inputs  []string `json:"inputs,omitempty"`
}

// Stage is a box of a flow, drawn below the one before it.
type Stage struct {
	Title  string   `json:"title"`
	Text   string   `json:"text,omitempty"`
	Items  []string `json:"items,omitempty"`  // tokens in boxes, or choices in circles
	Chosen string   `json:"chosen,omitempty"` // the item that is drawn bold
	Round  bool     `json:"round,omitempty"`
	Inputs []string `json:"inputs,omitempty"`
}

// Shapes of lines and markers.
var (
	Lines   = []string{"solid", "dashed", "dotted", "dash-dot", "none"}
	Markers = []string{"none", "square", "triangle", "circle", "diamond"}
)

// Finish checks the figure and brings it into the form that is drawn.
func (f *Figure) Finish() error {
	forms := min(len(f.Series), 1) + min(len(f.Panels), 1) + min(len(f.Flow), 1)
	if f.Image != nil {
		forms++
	}
	if forms != 1 {
		return fmt.Errorf("a figure has exactly one of series, panels, flow and image")
	}
	if f.Width < 2 || f.Width > 60 || f.Height < 0 || f.Height > 60 {
		return fmt.Errorf("a figure of %v x %v cm cannot be drawn", f.Width, f.Height)
	}
	if len(f.Series) == 0 {
		return nil
	}
	if f.X == nil || f.Y == nil {
		return fmt.Errorf("series need the axes x and y")
	}
	for i, a := range []*Axis{f.X, f.Y, f.Y2} {
		if err := a.check(i == 0); err != nil {
			return fmt.Errorf("axis %s: %w", []string{"x", "y", "y2"}[i], err)
		}
	}
	ids := map[string]bool{}
	for _, s := range f.Series {
		if err := cmp.Or(s.check(f.Y2 != nil), f.checkDraw(s)); err != nil {
			return fmt.Errorf("series %s: %w", s.ID, err)
		}
		if ids[s.ID] {
			return fmt.Errorf("two series have the id %q", s.ID)
		}
		ids[s.ID] = true
	}
	for _, k := range f.Keys {
		if _, err := parseColor(k.Color); err != nil {
			return fmt.Errorf("key %s: %w", k.Title, err)
		}
		if !slices.Contains(Lines, k.Line) || !slices.Contains(Markers, k.Marker) {
			return fmt.Errorf("key %s: there is no line %q or marker %q", k.Title, k.Line, k.Marker)
		}
	}
	return nil
}

func (s Series) check(right bool) error {
	if s.ID == "" || strings.Contains(s.ID, ".") {
		return fmt.Errorf("an id is needed, without a dot")
	}
	if _, err := parseColor(s.Color); err != nil {
		return err
	}
	if !slices.Contains(Lines, s.Line) {
		return fmt.Errorf("there is no line %q; there is %s", s.Line, strings.Join(Lines, ", "))
	}
	if s.Right && !right {
		return fmt.Errorf("there is no axis y2")
	}
	ids := map[string]bool{}
	for _, p := range s.Points {
		if ids[p.ID] {
			return fmt.Errorf("two points have the id %q", p.ID)
		}
		ids[p.ID] = true
		if !slices.Contains(Markers, p.Marker) {
			return fmt.Errorf("point %s: there is no marker %q; there is %s", p.ID, p.Marker, strings.Join(Markers, ", "))
		}
	}
	return nil
}

func (f *Figure) axisOf(s Series) *Axis {
	if s.Right {
		return f.Y2
	}
	return f.Y
}

// shows reports whether a point is drawn: it has both numbers, and its axes reach them.
func (f *Figure) shows(s Series, p Point) bool {
	return p.X.Value != nil && p.Y.Value != nil && f.X.reaches(*p.X.Value) && f.axisOf(s).reaches(*p.Y.Value) &&
		(p.Y.Std == nil || *p.Y.Std < 1e300)
}

// IsLog reports whether the axis is logarithmic.
func (a *Axis) IsLog() bool { return a != nil && (a.Log2 || a.Log10) }

// reaches reports whether the axis has a place for a number.
func (a *Axis) reaches(v float64) bool { return math.Abs(v) < 1e300 && (v > 0 || !a.IsLog()) }

// Notes says which points are not drawn, though they have numbers, and which whiskers are not deviations.
func (f *Figure) Notes() (notes []string) {
	var undrawn, one []string
	for _, s := range f.Series {
		for _, p := range s.Points {
			if p.X.Value != nil && p.Y.Value != nil && !f.shows(s, p) {
				undrawn = append(undrawn, s.ID+"."+p.ID)
			}
			if p.Y.One {
				one = append(one, s.ID+"."+p.ID)
			}
		}
	}
	if undrawn != nil {
		notes = append(notes, words.And(undrawn, mostNamed)+": not drawn, since a logarithmic axis has nothing at or below 0, and no axis what is beyond 1e300")
	}
	if one != nil {
		notes = append(notes, words.And(one, mostNamed)+ofOne)
	}
	return notes
}

const mostNamed = 6 // bounds the points that a note names

// Expect compares the figure with the paper: a cell is SERIES.POINT.x or SERIES.POINT.y, or the text of panels.N or
// flow.N, counted from 0. An unknown name is an error, except for points of Curves.
func (f *Figure) Expect(es ...Expectation) ([]Check, error) {
	return judge{paper: f.Paper, scale: f.Scale, paperScale: f.PaperScale, find: f.CellAt}.expect(es)
}

// CellAt finds a number or text by its name, and how a number is printed; see Expect.
func (f *Figure) CellAt(name string) (Cell, Format, error) {
	format := Format{Style: "fixed"}
	if text, ok := f.text(name); ok {
		return text, format, nil
	}
	cell, axis, err := f.Find(name)
	if axis != nil {
		format.Decimals = axis.Decimals
	}
	if series, _, _ := strings.Cut(name, "."); slices.Contains(f.Curves, series) {
		err = nil
	}
	return cell, format, err
}

// text returns the text of a panel or a stage; the items of a stage with blanks between them.
func (f *Figure) text(name string) (Cell, bool) {
	kind, number, _ := strings.Cut(name, ".")
	i, err := strconv.Atoi(number)
	text, inputs := "", []string(nil)
	switch {
	case err != nil || i < 0:
		return Cell{}, false
	case kind == "panels" && i < len(f.Panels):
		text, inputs = f.Panels[i].Text, f.Panels[i].Inputs
	case kind == "flow" && i < len(f.Flow) && len(f.Flow[i].Items) > 0:
		text, inputs = strings.Join(f.Flow[i].Items, " "), f.Flow[i].Inputs
	case kind == "flow" && i < len(f.Flow):
		text, inputs = Plain(f.Flow[i].Text), f.Flow[i].Inputs
	default:
		return Cell{}, false
	}
	cell := Cell{Text: text, Data: true, Inputs: inputs}
	if strings.HasPrefix(text, AbsentText) {
		cell.Absent = text
	}
	return cell, true
}

// Find returns the number with a name such as SERIES.POINT.y, and its axis.
func (f *Figure) Find(name string) (Cell, *Axis, error) {
	series, rest, _ := strings.Cut(name, ".")
	point, axis, ok := strings.CutLast(rest, ".")
	if !ok || !slices.Contains(coordinates, axis) {
		return Cell{}, nil, fmt.Errorf("%q: a number of a figure is SERIES.POINT.x or SERIES.POINT.y, or low, high, q1 or q3 of a box or an interval, a text panels.N or flow.N", name)
	}
	for _, s := range f.Series {
		if s.ID != series {
			continue
		}
		for _, p := range s.Points {
			switch {
			case p.ID != point:
			case axis == "x":
				return p.X, f.X, nil
			default:
				return p.number(axis), f.axisOf(s), nil
			}
		}
		return Cell{}, nil, fmt.Errorf("%q: series %s has no point %q", name, series, point)
	}
	return Cell{}, nil, fmt.Errorf("%q: the figure has no series %q", name, series)
}

// JSON writes the figure's data.
func (f *Figure) JSON(w io.Writer) error { return writeJSON(w, f) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// CSV writes one line per point, panel or stage; values are not rounded.
func (f *Figure) CSV(w io.Writer) error {
	c := csvWriter{csv.NewWriter(w), f.QuoteFormulas}
	switch {
	case len(f.Panels) > 0:
		c.Write([]string{"heading", "text"})
		for _, p := range f.Panels {
			c.texts([]string{Plain(p.Heading), p.Text})
		}
	case len(f.Flow) > 0:
		c.Write([]string{"stage", "text", "items"})
		for _, s := range f.Flow {
			c.texts([]string{Plain(s.Title), Plain(s.Text), strings.Join(s.Items, " ")})
		}
	default:
		head := []string{"series", "point", "x", "y", "y std", "y n"}
		if slices.ContainsFunc(f.Series, func(s Series) bool { return slices.ContainsFunc(s.Points, func(p Point) bool { return p.Low != nil }) }) {
			head = append(head, coordinates[2:]...)
		}
		c.Write(head)
		for _, s := range f.Series {
			for _, p := range s.Points {
				x := cmp.Or(p.X.Typed, number(p.X.Value))
				if len(f.X.Categories) > 0 {
					x = c.text(x)
				}
				row := []string{c.text(s.ID), c.text(p.ID), x, cmp.Or(p.Y.Typed, number(p.Y.Value)), number(p.Y.Std), strconv.Itoa(p.Y.N)}
				for _, name := range head[len(row):] {
					row = append(row, number(p.number(name).Value))
				}
				c.Write(row)
			}
		}
	}
	c.Flush()
	return c.Error()
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// Cut shortens a text to a number of characters and says how many it left out.
func Cut(text string, budget int) (string, int) {
	runes := []rune(text)
	if budget <= 0 || len(runes) <= budget {
		return text, 0
	}
	return string(runes[:budget]) + " … [truncated]", len(runes) - budget
}
