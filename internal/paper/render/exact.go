package render

import (
	"math/big"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/system/values"
)

// scaled is a number of a cell as a format scales it. exact is set of a whole number that a
// float64 has not all digits of.
type scaled struct {
	float float64
	exact *big.Rat
}

func (c Cell) scaled(f Format) scaled {
	n := scaled{float: f.scaled(*c.Value)}
	if values.Inexact(c.Typed) {
		n.exact, _ = new(big.Rat).SetString(c.Typed)
		if scale := new(big.Rat).SetFloat64(f.Scale); f.Scale != 0 && scale != nil {
			n.exact.Mul(n.exact, scale)
		}
	}
	return n
}

func (n scaled) rat() *big.Rat {
	if n.exact != nil {
		return n.exact
	}
	if r := new(big.Rat).SetFloat64(n.float); r != nil {
		return r
	}
	return new(big.Rat) // of an infinite one
}

func (n scaled) minus(o scaled) float64 {
	if n.exact == nil && o.exact == nil {
		return n.float - o.float
	}
	d, _ := new(big.Rat).Sub(n.rat(), o.rat()).Float64()
	return d
}

// Minus is the difference of two cells' numbers, of all their digits.
func (c Cell) Minus(o Cell) float64 { return c.scaled(Format{}).minus(o.scaled(Format{})) }

func (c Cell) number(f Format) string { return f.Prefix + c.digits(f) }

// digits is a cell's number as a format prints it, with all its digits; of the style text, as
// its file has it.
func (c Cell) digits(f Format) string {
	n := c.scaled(f)
	switch {
	case f.Style == "text" && c.Typed != "" && (f.Scale == 0 || f.Scale == 1):
		return c.Typed
	case f.Style == "integer" && n.exact != nil:
		whole, _ := new(big.Int).SetString(n.exact.FloatString(0), 10)
		return humanize.BigComma(whole)
	case f.Style == "fixed" && n.exact != nil:
		return n.exact.FloatString(f.Decimals)
	}
	return f.digits(*c.Value)
}

// apart takes one of the numbers, which exact differences follow from, off them all and as
// often off what a form of expectation says that they give.
func (form Form) apart(ns []scaled, paper float64) ([]float64, float64) {
	base, exact := scaled{}, false
	for _, n := range ns {
		exact = exact || n.exact != nil
	}
	if exact && form != IsRatio && form != HasSign { // which are not of differences
		base = ns[0]
	}
	vs := make([]float64, len(ns))
	for i, n := range ns {
		vs[i] = n.minus(base)
	}
	times := map[Form]int{IsMin: 1, IsMax: 1, IsMean: 1, IsSum: len(ns)}[form]
	off := new(big.Rat).Mul(base.rat(), big.NewRat(int64(times), 1))
	return vs, scaled{float: paper}.minus(scaled{exact: off})
}
