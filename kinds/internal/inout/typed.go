package inout

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/values"
)

// NotFinite is a number that a program wrote as NaN or Infinity: a value that is missing, unless
// a text is asked for, which a cell of CSV has.
type NotFinite Typed

// Typed is a number that a float64 does not say all of: a cell of CSV, such as 007 or 1.10, or
// a whole number of more digits than a float64 has. Text is as the file has it.
type Typed struct {
	Value float64
	Text  string
}

// MarshalJSON writes the text as it is, in quotes where JSON has no such number.
func (t Typed) MarshalJSON() ([]byte, error) {
	if json.Valid([]byte(t.Text)) {
		return []byte(t.Text), nil
	}
	return json.Marshal(t.Text)
}

// Float is the number that a value of a document is.
func Float(v any) (float64, bool) {
	if t, ok := v.(Typed); ok {
		return t.Value, true
	}
	f, ok := v.(float64)
	return f, ok
}

// cellValue is a number, which may have blanks around it, a text as it is typed, or nil where a
// cell is empty.
func cellValue(cell string) any {
	s := strings.TrimSpace(cell)
	if s == "" {
		return nil
	}
	v, ok := number(s)
	if f, _ := v.(float64); !isFinite(f) {
		return Typed{f, strings.Clone(s)}
	} else if ok {
		return v
	}
	return strings.Clone(cell)
}

// number reads one that may be NaN or infinite: a float64, or Typed.
func number(s string) (any, bool) {
	v, err := values.Float(s)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return nil, false
	case isFinite(v) && (strconv.FormatFloat(v, 'f', -1, 64) != s || values.Inexact(s) || s == "-0"):
		return Typed{v, strings.Clone(s)}, true
	}
	return v, true
}

// withNumbers has a number for each json.Number of a document.
func withNumbers(doc any) any {
	return values.Each(doc, func(v any) any {
		n, is := v.(json.Number)
		if !is {
			return v
		}
		of, _ := number(n.String())
		if t, ok := of.(Typed); ok && (n == "-0" || strings.Trim(t.Text, "-0123456789") != "") {
			return t.Value // 1.10 and 1.1 are one number
		}
		return of
	})
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
