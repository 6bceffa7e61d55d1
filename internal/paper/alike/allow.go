package alike

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/step"
)

// allowance gathers the differences that a rule of a command's compare would have to allow.
type allowance struct {
	abs, rel float64            // of numbers that are not integers
	fields   map[string]float64 // of integers, by path; below 0: not a number
	other    bool               // something differs that only skip allows
}

const mostFields = 8

// number takes a difference of two numbers that are not integers.
func (a *allowance) number(x *Difference) {
	p, _ := strconv.ParseFloat(x.Stands, 64)
	q, _ := strconv.ParseFloat(x.Made, 64)
	a.abs = max(a.abs, *x.By)
	a.rel = max(a.rel, *x.By/max(math.Abs(p), math.Abs(q)))
}

func (a *allowance) field(x *Difference) {
	pattern := strings.ReplaceAll(strings.Join(x.at.names, "."), ".[]", "[]")
	switch {
	case x.By != nil && strings.ContainsAny(x.Stands+x.Made, ".eE"):
		a.number(x)
		return
	case pattern == "":
		a.other = true
		return
	case a.fields == nil:
		a.fields = map[string]float64{}
	}
	was := a.fields[pattern]
	if x.By == nil || was < 0 {
		a.fields[pattern] = -1
	} else {
		a.fields[pattern] = max(was, *x.By)
	}
	a.other = a.other || len(a.fields) > mostFields
}

func (a *allowance) line(p, q []byte) {
	m := &meter{each: func(x *Difference) {
		if x.By != nil && strings.ContainsAny(x.Stands+x.Made, ".eE") {
			a.number(x)
		} else {
			a.other = true
		}
	}}
	if a.other || max(len(p), len(q)) > longestLine {
		a.other = true
	} else if err := (texts{m, step.Texts{}}).compare(bytes.NewReader(p), bytes.NewReader(q)); err != nil {
		a.other = true
	}
}

// rule returns the rule as HCL, for a file without a rule.
func (a *allowance) rule(as string, has step.Alike) string {
	if _, none := has.(step.Bytes); !none && has != nil {
		return ""
	}
	if a.other {
		return `{ as = "skip" }`
	}
	var list []string
	if as != "" {
		list = append(list, fmt.Sprintf("as = %q", as))
	}
	switch {
	case a.rel > 0 && a.rel < 0.01:
		list = append(list, "rel = "+above(a.rel))
	case a.abs > 0:
		list = append(list, "abs = "+above(a.abs))
	}
	var fields []string
	for _, f := range slices.Sorted(maps.Keys(a.fields)) {
		margin := "skip = true"
		if by := a.fields[f]; by >= 0 {
			margin = "abs = " + float(by)
		}
		fields = append(fields, fmt.Sprintf("%q = { %s }", f, margin))
	}
	if len(fields) > 0 {
		list = append(list, "fields = { "+strings.Join(fields, ", ")+" }")
	}
	if len(list) == 0 {
		return "" // only white space differs
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

// above returns the next power of ten, as people type it.
func above(x float64) string {
	return strconv.FormatFloat(math.Pow(10, math.Ceil(math.Log10(x))), 'g', 1, 64)
}
