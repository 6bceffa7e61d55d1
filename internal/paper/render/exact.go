package render

import (
	"cmp"
	"math/big"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/system/values"
)

// scaled is a cell's number as a format scales it; exact is set for an integer that float64 cannot hold.
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

// minus returns the difference of two numbers, from all their digits.
func (n scaled) minus(o scaled) float64 {
	if n.exact == nil && o.exact == nil {
		return n.float - o.float
	}
	rat := func(n scaled) *big.Rat { // 0 if it is infinite
		return cmp.Or(n.exact, new(big.Rat).SetFloat64(n.float), new(big.Rat))
	}
	d, _ := new(big.Rat).Sub(rat(n), rat(o)).Float64()
	return d
}

// Minus returns the difference of two cells' numbers, from all their digits.
func (c Cell) Minus(o Cell) float64 { return c.scaled(Format{}).minus(o.scaled(Format{})) }

func (c Cell) number(f Format) string { return f.Prefix + c.digits(f) }

// digits returns a cell's number as a format prints it, with all its digits; in style text, as its file has it.
func (c Cell) digits(f Format) string {
	n := c.scaled(f)
	switch {
	case f.Style == "text" && c.Typed != "" && (f.Scale == 0 || f.Scale == 1):
		return c.Typed
	case f.Style == "text" || n.exact == nil:
		return f.digits(*c.Value)
	}
	abs, unit := new(big.Rat).Abs(n.exact), ""
	switch f.Style {
	case "integer":
		integerPart, _ := new(big.Int).SetString(abs.FloatString(0), 10)
		return f.sign(n.float, humanize.BigComma(integerPart))
	case "kilo":
		abs, unit = abs.Quo(abs, big.NewRat(1000, 1)), kilo
	}
	return f.sign(n.float, abs.FloatString(f.Decimals)+unit)
}
