package step

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Range bounds a number, or every number of a list or map; the zero value bounds nothing.
type Range struct {
	Min, Max     *float64 `json:",omitempty"`
	Above, Below bool     `json:",omitempty"` // Min and Max are out of it themselves
}

// rangeOf reads the tags min or above, and max or below.
func rangeOf(f reflect.StructTag) (r Range, err error) {
	for _, tag := range []struct {
		name  string
		bound **float64
		open  *bool
	}{{"min", &r.Min, nil}, {"above", &r.Min, &r.Above}, {"max", &r.Max, nil}, {"below", &r.Max, &r.Below}} {
		text, ok := f.Lookup(tag.name)
		if !ok {
			continue
		}
		if *tag.bound != nil {
			return r, fmt.Errorf("two bounds on one side, with %s", tag.name)
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return r, fmt.Errorf("%s: %w", tag.name, err)
		}
		*tag.bound = &v
		if tag.open != nil {
			*tag.open = true
		}
	}
	return r, nil
}

// String says what is in the range, such as "1 to 10"; "" for all numbers.
func (r Range) String() string {
	if r.Min != nil && r.Max != nil && !r.Above && !r.Below {
		return decimal(*r.Min) + " to " + decimal(*r.Max)
	}
	var parts []string
	switch {
	case r.Min != nil && r.Above:
		parts = append(parts, "above "+decimal(*r.Min))
	case r.Min != nil:
		parts = append(parts, decimal(*r.Min)+" or more")
	}
	switch {
	case r.Max != nil && r.Below:
		parts = append(parts, "below "+decimal(*r.Max))
	case r.Max != nil:
		parts = append(parts, "at most "+decimal(*r.Max))
	}
	return strings.Join(parts, " and ")
}

func (r Range) has(v float64) bool {
	return (r.Min == nil || v > *r.Min || v == *r.Min && !r.Above) && (r.Max == nil || v < *r.Max || v == *r.Max && !r.Below)
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
