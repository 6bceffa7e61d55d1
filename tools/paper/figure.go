package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
)

var coordinate = regexp.MustCompile(`\(\s*(-?[0-9.]+)\s*,\s*(-?[0-9.]+)\s*\)`)

// compareFigure looks for a figure's numbers among the plotted coordinates, as they are or as fractions of percentages.
func (s *source) compareFigure(b block) result {
	r := result{name: b.address()}
	body, ok := s.figure(b.Paper)
	if !ok {
		r.problem("the paper has no figure with the label %s", b.Paper)
		return r
	}
	r.drawnTexts(body, b)
	if len(b.numbers()) == 0 {
		return r
	}
	points := coordinate.FindAllStringSubmatch(body, -1)
	var plotted []float64
	for _, p := range points {
		for _, text := range p[1:] {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				plotted = append(plotted, v)
			}
		}
	}
	for _, e := range b.numbers() {
		if !slices.ContainsFunc(plotted, func(v float64) bool { return same(v, *e.Value) || same(100*v, *e.Value) }) {
			r.problem("%s: the paper plots no %v", e.Cell, *e.Value)
			continue
		}
		r.numbers++
	}
	for _, p := range points {
		v, err := strconv.ParseFloat(p[2], 64)
		if err == nil && !slices.ContainsFunc(b.numbers(), func(e render.Expectation) bool { return same(v, *e.Value) || same(100*v, *e.Value) }) {
			r.problem("the paper plots %v, the pipeline expects nothing", v)
		}
	}
	r.note = fmt.Sprintf(", %d points plotted", len(points))
	return r
}

// figure is the float with a label.
func (s *source) figure(label string) (string, bool) {
	at := strings.Index(s.text, `\label{`+label+`}`)
	if at < 0 {
		return "", false
	}
	begin := strings.LastIndex(s.text[:at], `\begin{figure`)
	if begin < 0 {
		return "", false
	}
	return s.text[begin:at], true
}
