package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type figureConfig struct {
	Paper   string         `hcl:"paper,optional" help:"label of the figure in the paper, such as fig:model-scaling"`
	Caption string         `hcl:"caption,optional" help:"caption; like all texts it may have <b>, <i>, <tt>, <sc>, <sub> and <sup>"`
	Scale   string         `hcl:"scale,optional" help:"scale of the run; what is expected at no scale by name is compared only at paper_scale, or if there is none"`
	Width   float64        `hcl:"width,optional" help:"cm"`
	Height  float64        `hcl:"height,optional" help:"cm; default 0.72 of the width; panels and flows are as high as their content"`
	X       *figureAxis    `hcl:"x,optional" help:"axis below"`
	Y       *figureAxis    `hcl:"y,optional" help:"axis at the left"`
	Y2      *figureAxis    `hcl:"y2,optional" help:"axis at the right"`
	Series  []figureSeries `hcl:"series,optional" help:"lines and marks, bars or boxes over the axes"`
	Keys    []figureKey    `hcl:"keys,optional" help:"entries of the legend that are not series, such as the meaning of a marker"`
	Panels  []figurePanel  `hcl:"panels,optional" help:"instead of series: columns of monospaced text"`
	Flow    []figureStage  `hcl:"flow,optional" help:"instead of series: boxes from top to bottom"`
	Heat    *figureHeat    `hcl:"heat,added" help:"series are the rows of a heat map, from top to bottom, by their titles: x has categories, and y is for the colors, with a bar at the right"`
	Image   step.Inputs    `hcl:"image,added" help:"instead of series: a picture that a step made, as PNG, SVG, PDF, HTML or Vega-Lite JSON, or a list of the same picture in several of these. A tree has exactly one picture"`
	Curves  *figureCurves  `hcl:"curves,added" help:"curves of several runs, such as of a grid of trainings: after series, one for each name, in a color and line of its own and in the legend"`
	AtScale string         `hcl:"paper_scale,added,nokey" help:"scale of the paper's numbers"`
	CSV     string         `hcl:"csv_formulas,added" enum:",quote" help:"\"quote\": in the CSV file an apostrophe is put before texts that a spreadsheet would take for formulas (= + - @, tab, line end)"`
	Lacks   int            `hcl:"lacks,added" min:"0" help:"filled in: how many of the steps that it gathers failed, and are left out; the caption then says so"`
	Expect  []tableExpect  `hcl:"expect,block,nokey" help:"what is expected of a number or text, by the paper or at another scale, in exactly one form; the label is SERIES.POINT.x or SERIES.POINT.y, or for the text of panels and stages panels.N or flow.N, counted from 0. Claims are about several"`
}

type figureAxis struct {
	Title    string       `hcl:"title" help:"what it measures, with its unit"`
	Min      *float64     `hcl:"min,optional" help:"shown at least from here; data below widen the axis"`
	Max      *float64     `hcl:"max,optional" help:"shown at least to here"`
	Log2     bool         `hcl:"log2,optional" help:"logarithmic, with powers of two; points at or below 0 are not drawn: the run and the report name them"`
	Log10    bool         `hcl:"log10,added" help:"the same with powers of ten"`
	Category []string     `hcl:"categories,added" help:"of x, in place of numbers: names in the order in which they stand"`
	Ticks    []figureTick `hcl:"ticks,optional" help:"labelled places; default: round numbers"`
	Scale    float64      `hcl:"scale,optional" help:"factor on its numbers, such as 100 for percentages; constants are taken as they are"`
	Decimals int          `hcl:"decimals,optional" help:"digits that the paper gives, whose rounding still matches"`
}

type figureHeat struct {
	Rows   string `hcl:"rows,optional" help:"title of the rows"`
	Labels bool   `hcl:"labels,optional" help:"each cell has its number, with the decimals of y"`
}

type figureTick struct {
	At    float64 `hcl:"at" help:"number on the axis"`
	Label string  `hcl:"label" help:"its text; a leading line feed puts it one row lower"`
}

type figureSeries struct {
	ID     string        `hcl:"id" help:"name, for expect and traces"`
	Title  string        `hcl:"title,optional" help:"in the legend"`
	Color  string        `hcl:"color,optional" help:"atomic, naive, semantic, naive_light, naive_mid, naive_dark, black, gray, or #rrggbb; default black, of bars and boxes one of seven"`
	Draw   string        `hcl:"draw,added" enum:",bars,histogram,box" help:"default: a line and markers. bars begin at 0, and bars of several series stand side by side; histogram: bars of how many numbers of its only point's x are in each bin; box: quartiles of the numbers of each point's y, as numpy's linear ones, with whiskers to the last within 1.5 times their distance and circles beyond"`
	Line   string        `hcl:"line,optional" enum:",solid,dashed,dotted,dash-dot,none" help:"default solid"`
	Marker string        `hcl:"marker,optional" enum:",none,square,triangle,circle,diamond" help:"for points without one of their own"`
	Hollow bool          `hcl:"hollow,optional" help:"markers of the series are not filled"`
	Axis   string        `hcl:"axis,optional" enum:",y,y2" help:"which axis it is measured on; default y"`
	Points []figurePoint `hcl:"points,optional" help:"points, in the order in which the line joins them"`
	Curve  *figureCurve  `hcl:"curve,optional" help:"instead of points: a list of objects in a JSON artifact, such as a training curve"`
	Bins   int           `hcl:"bins,added" min:"0" max:"1000" help:"of a histogram, from the least number to the greatest; default 10"`
	Edges  []float64     `hcl:"edges,added" help:"instead of bins: where they begin, ascending, and where the last one ends; numbers outside are left out and counted"`
	Dense  bool          `hcl:"density,added" help:"a histogram's area is 1"`

	Differences *figureDifferences `hcl:"differences,added" help:"instead of points: a bar for each query, how much better one system is than another, the best first"`
}

type figurePoint struct {
	ID     string       `hcl:"id" help:"name, for expect and traces"`
	X      figureNumber `hcl:"x" help:"place"`
	Y      figureNumber `hcl:"y,optional" help:"value, which all but histograms need; a list of artifacts, one per seed, gives mean and standard deviation"`
	Marker string       `hcl:"marker,optional" enum:",none,square,triangle,circle,diamond" help:"default: the series'"`
	Hollow bool         `hcl:"hollow,optional" help:"not filled"`
}

type figureNumber struct {
	Number *float64    `hcl:"number,optional" help:"a constant"`
	Value  step.Inputs `hcl:"value,optional" help:"JSON artifact, or a list of them, one per seed"`
	Field  string      `hcl:"field,optional" help:"path of the number in it"`

	Category string `hcl:"category,added" help:"on an axis of categories, instead of number and value: its name"`
	List     string `hcl:"list,added" help:"of a histogram or box: path of a list, of whose elements field is a number each; without it each artifact has a number"`
	Low      string `hcl:"low,added" help:"path of the lower end of the value's interval, which a whisker shows in place of the deviation; of one artifact"`
	High     string `hcl:"high,added" help:"path of its upper end"`
}

type figureDifferences struct {
	System   step.Input `hcl:"system" accepts:"score/queries" help:"queries output of a score step"`
	Baseline step.Input `hcl:"baseline" accepts:"score/queries" help:"queries output for the system that is subtracted, over the same queries"`
	Measure  string     `hcl:"measure" help:"column, as score names it: nDCG@10"`
}

type figureCurve struct {
	Value step.Input `hcl:"value" help:"JSON artifact"`
	List  string     `hcl:"list,optional" help:"path of the list in it; default points"`
	X     string     `hcl:"x" help:"path in each object, such as seconds"`
	Y     string     `hcl:"y" help:"path in each object, such as metrics.MRR@10; objects without it are left out and counted; if all are, the step fails"`
	Reach float64    `hcl:"reach,optional" help:"keep two points: \"reach\", hollow, the first to have this fraction of the best y, and \"best\""`
}

type figureCurves struct {
	Of map[string]step.Input `hcl:"of" help:"JSON artifacts by name, such as { for rate, t in step.train.grid : rate => t.curve }; a name is the title, and with _ for dots the id, of its series"`
	X  string                `hcl:"x,optional" help:"path in each object of points; default step"`
	Y  string                `hcl:"y" help:"path in each object, such as loss or metrics.MRR@10"`
}

type figureKey struct {
	Title  string `hcl:"title" help:"text"`
	Color  string `hcl:"color,optional" help:"as for a series; default gray"`
	Line   string `hcl:"line,optional" enum:",solid,dashed,dotted,dash-dot,none" help:"default none"`
	Marker string `hcl:"marker,optional" enum:",none,square,triangle,circle,diamond" help:"default none"`
	Hollow bool   `hcl:"hollow,optional" help:"not filled"`
}

type figurePanel struct {
	Heading string     `hcl:"heading" help:"over the column"`
	Text    string     `hcl:"text,optional" help:"constant text"`
	Value   step.Input `hcl:"value,optional" help:"JSON artifact with the text"`
	Field   string     `hcl:"field,optional" help:"path of the text in it"`
	Budget  int        `hcl:"budget,optional" help:"characters shown; the rest is cut and counted"`
}

type figureStage struct {
	Title  string     `hcl:"title" help:"first line of the box"`
	Text   string     `hcl:"text,optional" help:"second line; all of it in <tt> is set monospaced"`
	Items  []string   `hcl:"items,optional" help:"tokens, each in a box; … is left bare"`
	Value  step.Input `hcl:"value,optional" help:"JSON artifact with the text or the tokens"`
	Field  string     `hcl:"field,optional" help:"path in it: a text or number is the second line, a list is the items"`
	Chosen string     `hcl:"chosen,optional" help:"the item that is drawn bold"`
	Round  bool       `hcl:"round,optional" help:"items are choices in circles"`
}

var Figure = step.Define(step.Kind[figureConfig]{
	Name:    "render_figure",
	Version: 8,
	Block:   true,
	Inline:  true,
	Doc: `Draw a figure block as SVG, PDF and PNG, or take a picture that a step made.
Series of points or curves over axes, bars, histograms, boxes, heat maps, columns of text, or a flow of boxes;
the data behind the picture come as CSV and JSON. With image, the files are those
of the step, byte by byte, and what they are is told from their bytes. Editing a caption or a color
reruns only this, editing an expectation nothing.`,
	Example: `figure "model_scaling" {
  paper = "fig:model-scaling"
  x     = { title = "Total trainable parameters (M)", scale = 0.000001 }
  y     = { title = "MRR@10", decimals = 1 }
  series = [
    for id, line in { atomic = "dotted", naive = "solid", semantic = "dashed" } : {
      id = id, title = title(id), color = id, line = line
      points = [for size, marker in { tiny = "square", small = "triangle", base = "circle" } : {
        id = size, marker = marker
        x  = { value = step.train.dsi["${id}/${size}"].report, field = "parameters" }
        y  = { value = step.evaluate.dsi["${id}/${size}"].report, field = "percent.post_filtered.mrr_10" }
      }]
    }
  ]
  expect "atomic.tiny.y" { value = 62.2 }
}`,
	Outputs: []step.Output{
		{Name: "svg", Type: "figure/svg", Optional: true, Help: "for the web; text is text", Alike: step.Follows{Output: "json"}},
		{Name: "pdf", Type: "figure/pdf", Optional: true, Help: "for LaTeX; fonts are embedded", Alike: step.Follows{Output: "json"}},
		{Name: "png", Type: "figure/png", Optional: true, Help: "220 dots per inch", Alike: step.Follows{Output: "json"}},
		{Name: "html", Type: "figure/html", Optional: true, Help: "of image only", Alike: step.Follows{Output: "json"}},
		{Name: "vega", Type: "figure/vega", Optional: true, Help: "of image only: Vega-Lite", Alike: step.Follows{Output: "json"}},
		{Name: "csv", Type: "figure/csv", Optional: true, Help: "values that are not rounded", Alike: step.Follows{Output: "json"}},
		{Name: "json", Type: "figure/json", Help: "the data, and the inputs of each point", Alike: step.Cells{Units: 1}, Why: "a mean may round differently on another processor"},
	},
	Defaults: figureConfig{Width: 8.5, AtScale: fullScale},
	Check:    inout.Checks(checkFigure),
	Reads:    figureConfig.reads,
	Cells:    func(c figureConfig) []string { return c.expanded().cells() },
	Run: func(_ context.Context, x *step.IO, c figureConfig) error {
		if c.Image != nil {
			return drawImage(x, c)
		}
		f, err := buildFigure(x, c.expanded())
		if err != nil {
			return err
		}
		return inout.WriteAll(x, map[string]func(io.Writer) error{"svg": f.SVG, "pdf": f.PDF, "png": f.PNG, "csv": f.CSV, "json": f.JSON})
	},
})

// curveColors can be told apart by most people (Okabe and Ito); curveLines tell curves apart once colors repeat.
var (
	curveColors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "black"}
	curveLines  = []string{"solid", "dashed", "dotted", "dash-dot"}
)

// expanded returns the figure with a series for each of its curves.
func (c figureConfig) expanded() figureConfig {
	if c.Curves == nil {
		return c
	}
	c.Series = slices.Clone(c.Series)
	for i, name := range slices.Sorted(maps.Keys(c.Curves.Of)) {
		c.Series = append(c.Series, figureSeries{ID: strings.ReplaceAll(name, ".", "_"), Title: name,
			Color: curveColors[i%len(curveColors)], Line: curveLines[i/len(curveColors)%len(curveLines)],
			Curve: &figureCurve{Value: c.Curves.Of[name], X: cmp.Or(c.Curves.X, "step"), Y: c.Curves.Y}})
	}
	return c
}

// curves returns the ids of the series whose points come with the data.
func (c figureConfig) curves() []string {
	of := lists.Filter(c.Series, func(s figureSeries) bool {
		return s.Curve != nil || s.Draw == histogram || s.Differences != nil
	})
	return lists.Map(of, func(s figureSeries) string { return s.ID })
}

func checkFigure(c figureConfig, ps *step.Problems) {
	c = c.expanded()
	problem := func(path string, err error) { inout.CheckError(ps, path, err) }
	problem("caption", render.CheckMarkup(c.Caption))
	problem("paper", render.CheckLabel(c.Paper))
	for i, s := range c.Series {
		at := fmt.Sprintf("series[%d]", i)
		of := lists.Filter([]bool{s.Points != nil, s.Curve != nil, s.Differences != nil}, func(is bool) bool { return is })
		inout.Check(ps, at, len(of) == 1, "has exactly one of points, curve and differences")
		inout.Check(ps, at+".curve.reach", s.Curve == nil || s.Curve.Reach >= 0 && s.Curve.Reach <= 1, "is a fraction between 0 and 1")
		for j, p := range s.Points {
			p.X.check(ps, fmt.Sprintf("%s.points[%d].x", at, j), s.Draw == histogram, c.X, c.Lacks > 0)
			p.Y.check(ps, fmt.Sprintf("%s.points[%d].y", at, j), s.Draw == "box", nil, c.Lacks > 0 || s.Draw == histogram)
		}
		s.check(ps, at, c.X)
	}
	for i, p := range c.Panels {
		problem(fmt.Sprintf("panels[%d].heading", i), render.CheckMarkup(p.Heading))
		inout.Check(ps, fmt.Sprintf("panels[%d]", i), (p.Text != "") != p.Value.Set() && p.Budget >= 0, "has exactly one of text and value, and a budget that is not negative")
	}
	for i, s := range c.Flow {
		problem(fmt.Sprintf("flow[%d]", i), errors.Join(render.CheckMarkup(s.Title), render.CheckMarkup(s.Text)))
	}
	inout.Check(ps, "curves.of", c.Curves == nil || len(c.Curves.Of) > 0, "has no curve")
	f := c.layout()
	problem("", f.Finish())
	expectProblems(ps, c.Expect, c.AtScale, f.Expect)
}

const whatIsDrawn = "PNG, SVG, PDF, HTML and Vega-Lite JSON are taken"

// drawImage links the pictures that steps left as the figure's outputs: at most one of each format.
func drawImage(x *step.IO, c figureConfig) error {
	f := c.layout()
	for _, in := range c.Image {
		found, err := pictures(x, in)
		if err != nil {
			return step.Permanent(fmt.Errorf("image: %w", err))
		}
		for format, file := range found {
			if old, twice := f.Image[format]; twice {
				return step.Permanent(fmt.Errorf("image: %s and %s have the same format, %s; name one of each", old.Name, file.Name, format))
			}
			f.Image[format] = render.ImageFile{Name: file.Name, Digest: file.Digest.String()}
			if err := x.Link(format, artifacts.Artifact{Digest: file.Digest, Size: file.Size}); err != nil {
				return err
			}
		}
	}
	if err := f.Finish(); err != nil {
		return step.Permanent(err)
	}
	return inout.Write(x, "json", f.JSON)
}

// pictures finds the one picture of an artifact, by format. In a tree, its files have one name and different endings.
// Their bytes say whether files are pictures.
func pictures(x *step.IO, in step.Input) (map[string]artifacts.File, error) {
	files := x.Files(in, "the input, of type "+in.Artifact.Type)
	found := map[string]artifacts.File{}
	var names, stems []string
	for _, f := range files {
		file, err := x.Path(f.Digest)
		if err != nil {
			return nil, err
		}
		format, head, err := render.ImageFormat(file)
		ending := path.Ext(f.Name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		case format != "":
			names, stems = append(names, f.Name), append(stems, strings.TrimSuffix(f.Name, ending))
			found[format] = f
		case len(files) == 1 || slices.Contains([]string{".png", ".svg", ".pdf"}, strings.ToLower(ending)):
			return nil, fmt.Errorf("%s is not a picture: it begins with %.40q; %s", f.Name, head, whatIsDrawn)
		default:
			x.Count("files beside the picture", 1)
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("none of the tree's %d files is a picture; %s", len(files), whatIsDrawn)
	case len(found) < len(names) || len(slices.Compact(stems)) > 1:
		return nil, fmt.Errorf("the tree has %d pictures: %.500s; name one: step.KIND.NAME.out[%q]", len(names), strings.Join(names, ", "), names[0])
	}
	return found, nil
}
