package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// reads are the fields that a table's cells come from.
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

// cellsOf names the cell of a row and column, and those that it is a term of.
func (c tableConfig) cellsOf(r tableRow, k tableColumn) []string {
	of := lists.Filter(c.Columns, func(m tableColumn) bool { return slices.Contains(m.Minus, k.ID) })
	return lists.Map(append([]tableColumn{k}, of...), func(m tableColumn) string { return r.ID + "." + m.ID })
}

// reads are the fields that a figure's points, panels and stages come from.
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

// reads are the values of the runs.
func (c effectsConfig) reads() []step.Read {
	return lists.Map(c.Runs, func(r effectsRun) step.Read {
		return step.Read{Attr: "field", Input: r.Report, Path: c.Field, Check: numberField}
	})
}

// cellField takes what a cell shows: a number, a text, or a mean with its deviation.
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
