package language

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Numbers are evaluated with 512 bits, about 154 digits: rounded results have all of these, typed numbers fewer.
const (
	wholeBits   = 512 // of whole numbers that are exact
	typedDigits = 100
	floatDigits = 15 // that every float64 keeps
)

// Number is what a configuration tree has for a number: an int64 or float64 that has its digits, as with up to 15, else the
// digits themselves. A result without an end, such as 1/3, is the nearest float64.
func Number(f *big.Float) any {
	if f.IsInt() {
		if n, exact := f.Int64(); exact == big.Exact {
			return n
		}
		if f.MantExp(nil) <= wholeBits {
			return json.Number(f.Text('f', 0))
		}
		x, _ := f.Float64()
		return x
	}
	x, exact := f.Float64()
	if exact == big.Exact || f.MantExp(nil) < -wholeBits {
		return x
	}
	// Finding the digits of 512 bits is slow, so those of the float64 are tried first.
	if typed, _, err := big.ParseFloat(strconv.FormatFloat(x, 'e', -1, 64), 10, f.Prec(), f.Mode()); err == nil && typed.Cmp(f) == 0 {
		return x
	}
	scientific := f.Text('e', -1)
	digits, _, _ := strings.Cut(strings.Replace(strings.TrimPrefix(scientific, "-"), ".", "", 1), "e")
	if len(digits) <= floatDigits || len(digits) > typedDigits {
		return x
	}
	return json.Number(f.Text('f', -1))
}

// toString is tostring. Of whole numbers it writes the digits themselves: of 512 bits, cty looks for the shortest ones.
var toString = func(general function.Function) function.Function {
	return function.New(&function.Spec{
		Params: general.Params(),
		Type:   general.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if v := args[0]; v.Type() == cty.Number && !v.IsNull() {
				f := v.AsBigFloat()
				if n, exact := f.Int64(); exact == big.Exact && n != 0 && f.MantExp(nil) <= int(f.Prec()) { // of fewer bits, not all digits count
					return cty.StringVal(strconv.FormatInt(n, 10)), nil
				}
			}
			return general.Call(args)
		},
	})
}(stdlib.MakeToFunc(cty.String))
