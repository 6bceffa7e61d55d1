package step

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// Limit is what a check compares with: a number or, if it has a name, another that was
// left, by the step itself or by those that its check is Of.
type Limit struct {
	Number float64 `json:"number,omitempty"`
	Name   string  `json:"name,omitempty"` // what was counted, or OUTPUT:PATH

	// Terms are what Name is, by the steps that the check is Of: known once these have results.
	Terms []Term `json:"terms,omitempty"`
}

// Term is a number that a step left, or where it is, or why there is none.
type Term struct {
	Step   string              `json:"step,omitempty"`
	Number float64             `json:"number,omitempty"`
	In     *artifacts.Artifact `json:"in,omitempty"` // at Path
	Path   string              `json:"path,omitempty"`
	None   string              `json:"none,omitempty"`
}

// BindChecks returns the task with what its checks compare with in the results of other
// steps; result finds that of an address.
func (t Task) BindChecks(result func(address string) *artifacts.Result) (Task, error) {
	if !slices.ContainsFunc(t.Checks, func(c Check) bool { return len(c.Of) > 0 }) {
		return t, nil
	}
	t.Checks = slices.Clone(t.Checks)
	for i := range t.Checks {
		c := &t.Checks[i]
		for _, at := range []**Limit{&c.Min, &c.Max, &c.Equals} {
			if len(c.Of) == 0 || *at == nil || (*at).Name == "" {
				continue
			}
			limit := Limit{Name: (*at).Name}
			for _, address := range c.Of {
				r := result(address)
				if r == nil {
					return t, fmt.Errorf("check %q: %s has no result yet", c.Name, address)
				}
				term := wanted(limit.Name, r)
				term.Step = address
				limit.Terms = append(limit.Terms, term)
			}
			*at = &limit
		}
	}
	return t, nil
}

// wanted finds what is counted under a name, or the output in which OUTPUT:PATH is.
func wanted(name string, r *artifacts.Result) Term {
	output, path, isField := strings.Cut(name, ":")
	if !isField {
		n, ok := r.Counts[name]
		if !ok {
			return Term{None: fmt.Sprintf("it counted no %q, but %s", name, quotedList(slices.Sorted(maps.Keys(r.Counts))))}
		}
		return Term{Number: float64(n)}
	}
	a, ok := r.Outputs[output]
	if !ok || a.Files != nil {
		return Term{None: fmt.Sprintf("it has no output %q that is one file, but %s", output, quotedList(slices.Sorted(maps.Keys(r.Outputs))))}
	}
	return Term{In: &a, Path: path}
}

// number reads the term; why says that it has none.
func (t Term) number(ctx context.Context, open Opener) (v float64, why string, err error) {
	switch {
	case t.None != "":
		return 0, t.None, nil
	case t.In == nil:
		return t.Number, "", nil
	}
	doc, why, err := readChecked(ctx, *t.In, open)
	if why != "" || err != nil {
		return 0, why, err
	}
	if v, why = numberAt(doc, t.Path); why != "" {
		why = t.Path + ": " + why
	}
	return v, why, nil
}

// value is the number to compare with; why says that there is none.
func (l *Limit) value(ctx context.Context, r *artifacts.Result, open Opener) (sum float64, why string, err error) {
	terms := l.Terms
	switch {
	case l.Name == "":
		return l.Number, "", nil
	case len(terms) == 0:
		terms = []Term{wanted(l.Name, r)}
	}
	for _, t := range terms {
		v, why, err := t.number(ctx, open)
		if why != "" && t.Step != "" {
			why = t.Step + ": " + why
		}
		if why != "" || err != nil {
			return 0, why, err
		}
		sum += v
	}
	return sum, "", nil
}

// shown is the limit for people, with where it is from.
func (l *Limit) shown(v float64, of []string) string {
	switch {
	case l.Name == "":
		return decimal(v)
	case len(of) == 0:
		return fmt.Sprintf("%s, its %s,", decimal(v), l.Name)
	}
	return fmt.Sprintf("%s, the %s of %s,", decimal(v), l.Name, strings.Join(of, " and "))
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
