package alike

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/step"
)

type cells struct {
	*meter
	rule step.Cells
}

const mostRendered = 64 << 20

func (c cells) compare(a, b io.Reader) error {
	x, frame, err := readCells(a)
	if err != nil {
		return fmt.Errorf("the stored result: %w", err)
	}
	y, other, err := readCells(b)
	if err != nil {
		return fmt.Errorf("the new result: %w", err)
	}
	if !reflect.DeepEqual(frame, other) || len(x) != len(y) {
		c.unlike("", "", "", "apart from its numbers, its layout differs")
		return nil
	}
	for i := range x {
		p, q := x[i], y[i]
		switch {
		case p.name != q.name || (p.value == nil) != (q.value == nil) || p.text != q.text:
			c.unlike(p.name, p.shown, q.shown, "")
		case p.value != nil && *p.value != *q.value:
			allowed := max(float64(c.rule.Units)*p.unit, step.Margin{Rel: printed}.Allows(*p.value, *q.value))
			c.number(p.name, float(*p.value), float(*q.value), math.Abs(*p.value-*q.value), allowed*(1+printed))
		}
	}
	return nil
}

const printed = 1e-9 // the rounding of numbers that are printed as they are

type cell struct {
	name, shown, text string
	value             *float64
	unit              float64 // of the last digit that is printed
}

func readCells(r io.Reader) (list []cell, frame any, err error) {
	b, err := io.ReadAll(io.LimitReader(r, mostRendered+1))
	if err != nil {
		return nil, nil, err
	}
	if len(b) > mostRendered {
		return nil, nil, errors.New("it is not a table or figure")
	}
	var parts map[string]any
	if err := json.Unmarshal(b, &parts); err != nil {
		return nil, nil, err
	}
	_, isTable := parts["rows"]
	named, err := render.ReadNamed(b, isTable)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range named {
		unit := 0.0
		if isTable {
			unit = n.Format.Unit()
		}
		add := func(name string, value *float64) {
			c := cell{name: name, shown: n.Text, value: value, unit: unit}
			if value == n.Cell.Value && n.Cell.Typed != "" { // the float64 has not all digits
				c.value, c.text = nil, n.Cell.Typed
			} else if value == nil {
				c.text = n.Cell.Text + n.Cell.Absent
			}
			list = append(list, c)
		}
		add(n.Name, n.Cell.Value)
		if n.Cell.Std != nil {
			add(n.Name+".std", n.Cell.Std)
		}
	}
	delete(parts, "checks") // which follow from the cells
	blank(parts)
	return list, parts, nil
}

// blank removes the numbers of cells and their origins from a document.
func blank(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, at := range []string{"cells", "x", "y"} {
			if inner, ok := v[at].(map[string]any); ok && named(v) && (at == "cells" || inner["title"] == nil) { // x has a title as a figure's axis
				delete(v, at)
			}
		}
		delete(v, "inputs")
		if named(v) { // a point: its other numbers, which have names too, and how they are drawn
			for _, at := range []string{"low", "high", "q1", "q3", "outside", "width"} {
				delete(v, at)
			}
		}
		for _, x := range v {
			blank(x)
		}
	case []any:
		for _, x := range v {
			blank(x)
		}
	}
}

// named reports whether a row or point has an id, by which its cells are listed.
func named(v map[string]any) bool {
	id, _ := v["id"].(string)
	return id != ""
}
