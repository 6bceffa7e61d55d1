package checklist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

var (
	seedName     = regexp.MustCompile(`(?i)(^|[._-])seed$`)    // of an attribute, variable or argument
	seedArgument = regexp.MustCompile(`(?i)^-{0,2}seed=(.+)$`) // of a program
)

// Bounds of one block's settings in an answer.
const (
	mostValues = 12 // of one attribute
	mostLeaves = 60
)

// experiment is a block whose steps have seeds.
type experiment struct {
	block  string
	place  string
	steps  int
	seeds  map[string]bool
	values map[string]map[string]bool // of each attribute
}

// experiments finds the blocks whose configurations have a seed, with some of the values of each attribute.
func (f *facts) experiments() []*experiment {
	of := map[string]*experiment{}
	for _, s := range f.Plan.Steps {
		if s.IsRendered() {
			continue
		}
		var tree any
		if json.Unmarshal(s.Task.Config, &tree) != nil {
			continue // a plan's configurations are JSON
		}
		block := s.Block()
		e := of[block]
		if e == nil {
			e = &experiment{block: block, place: place(s.Pos), seeds: map[string]bool{}, values: map[string]map[string]bool{}}
			of[block] = e
		}
		e.steps++
		e.walk("", tree)
	}
	maps.DeleteFunc(of, func(_ string, e *experiment) bool { return len(e.seeds) == 0 })
	return lists.Map(slices.Sorted(maps.Keys(of)), func(block string) *experiment { return of[block] })
}

// walk records the values of a configuration, without inputs.
func (e *experiment) walk(path string, v any) {
	leaf := v
	switch v := v.(type) {
	case map[string]any:
		for _, marker := range []string{"$input", "$ref", "$artifact"} {
			if _, ok := v[marker]; ok {
				return
			}
		}
		for name, x := range v {
			at := name
			if path != "" {
				at = path + "." + name
			}
			e.walk(at, x)
		}
		return
	case []any:
		if slices.ContainsFunc(v, func(x any) bool { _, object := x.(map[string]any); return object }) {
			for _, x := range v {
				e.walk(path+"[]", x)
			}
			return
		}
		if path == "argv" {
			v = e.arguments(v)
		}
		leaf = v
	case nil:
		return
	}
	b, err := json.Marshal(leaf)
	if err != nil {
		return
	}
	text := words.Clip(report.Unplaced(strings.Trim(string(b), `"`)), 60)
	if seedName.MatchString(path) {
		e.seeds[text] = true
		return
	}
	if e.values[path] == nil {
		e.values[path] = map[string]bool{}
	}
	if len(e.values[path]) <= mostValues {
		e.values[path][text] = true
	}
}

// arguments records the seeds among a program's arguments, and returns the others unchanged.
func (e *experiment) arguments(list []any) []any {
	others := slices.Clone(list)
	for i, x := range list {
		text, ok := x.(string)
		if !ok {
			continue
		}
		if m := seedArgument.FindStringSubmatch(text); m != nil {
			e.seeds[m[1]] = true
			others[i] = strings.TrimSuffix(text, m[1]) + "…"
		} else if i+1 < len(list) && strings.HasPrefix(text, "-") && seedName.MatchString(strings.TrimLeft(text, "-")) {
			e.seeds[fmt.Sprint(list[i+1])] = true
			others[i+1] = "…"
		}
	}
	return others
}

// settings says what was varied and what was not, and how results were chosen.
func (f *facts) settings() (out []Answer) {
	list := f.experiments()
	for _, e := range words.First(list, mostShown, func(n int) {
		out = append(out, Answer{Text: fmt.Sprintf("And %s more with seeds.", counted(n, "block")), From: f.Report.Pipeline})
	}) {
		var varied, fixed []string
		for _, path := range slices.Sorted(maps.Keys(e.values)) {
			values := slices.Sorted(maps.Keys(e.values[path]))
			switch {
			case len(values) > mostValues:
				varied = append(varied, fmt.Sprintf("%s (more than %d values)", path, mostValues))
			case len(values) > 1:
				varied = append(varied, fmt.Sprintf("%s in %s", path, strings.Join(values, ", ")))
			case values[0] != "":
				fixed = append(fixed, path+" = "+values[0])
			}
		}
		if len(varied) > 0 {
			out = append(out, Answer{Text: fmt.Sprintf("%s, differing among its %s: %s.", e.block, counted(e.steps, "step"), strings.Join(cut(varied), "; ")), From: e.place})
		}
		if len(fixed) > 0 {
			out = append(out, Answer{Text: fmt.Sprintf("%s, the same in all: %s.", e.block, strings.Join(cut(fixed), "; ")), From: e.place})
		}
	}
	if len(list) == 0 {
		out = append(out, blank("hyperparameters: no step's configuration has a seed, so no step counts as an experiment"))
	}
	for _, b := range f.Said.Search {
		out = append(out, Answer{Text: fmt.Sprintf("Search, %s: %s.", b.Name, strings.TrimSuffix(b.Text, ".")), From: place(b.Pos)})
	}
	if len(f.Said.Search) == 0 {
		out = append(out, blank("the bounds of the search (search of the checklist block)"))
	}
	if s := f.Said.Selection; s.Text != "" {
		out = append(out, Answer{Text: "Selection: " + strings.TrimSuffix(s.Text, ".") + ".", From: place(s.Pos)})
	} else {
		out = append(out, blank("how the reported results were selected (selection of the checklist block)"))
	}
	return out
}

func cut(list []string) []string {
	if len(list) > mostLeaves {
		return append(list[:mostLeaves:mostLeaves], fmt.Sprintf("and %d more", len(list)-mostLeaves))
	}
	return list
}

// runs lists seeds and the number of runs with them, and says which numbers are means.
func (f *facts) runs() (out []Answer) {
	list := f.experiments()
	for _, e := range list[:min(len(list), mostShown)] {
		seeds := slices.SortedFunc(maps.Keys(e.seeds), byNumber)
		out = append(out, Answer{Text: fmt.Sprintf("%s: %s with %s: %s.", e.block, counted(e.steps, "run"), counted(len(seeds), "seed"), words.And(seeds, mostShown)), From: e.place})
	}
	if len(list) == 0 {
		out = append(out, blank("seeds: no step's configuration has one"))
	}
	means, single, least, most := meansOf(f.Report.Items)
	if means+single == 0 {
		return append(out, blank("means and deviations: no table has run"))
	}
	of := ""
	if means > 0 {
		of = fmt.Sprintf(" of %d to %d values", least, most)
		if least == most {
			of = " of " + counted(least, "value")
		}
	}
	return append(out, Answer{Text: fmt.Sprintf("Numbers of tables: %s%s with the sample standard deviation, and %d without.", counted(means, "mean"), of, single), From: "cells of the tables"})
}

// meansOf counts the numbers of tables: means with a deviation, over how many values, and single ones.
func meansOf(items []*report.Item) (means, single, least, most int) {
	for _, it := range items {
		if it.Table == nil {
			continue
		}
		for _, row := range it.Table.Rows {
			for _, c := range row.Cells {
				if c.Std != nil && c.N > 1 {
					means++
					least, most = min(cmp.Or(least, c.N), c.N), max(most, c.N)
				} else if c.Value != nil {
					single++
				}
			}
		}
	}
	return means, single, least, most
}

func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
