package collect

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// textOf is a value of a column as CSV and JSON of the same table have it; false if it is
// missing.
type textOf func(parquet.Value) (text string, ok bool, err error)

// mostScale is of digits after the point of a decimal number; known writers have 76 at most.
const mostScale = 1000

// textsOf reads the values of a leaf by its logical type, or by that of storage if the schema
// says no more. A type that has several forms as a text, such as a date, or none is an error.
func textsOf(t parquet.Type, e format.SchemaElement) (textOf, error) {
	always := func(text func(parquet.Value) string) (textOf, error) {
		return func(v parquet.Value) (string, bool, error) { return text(v), true, nil }, nil
	}
	name := t.String()
	if e.LogicalType.Value == nil {
		if known := t.LogicalType(); known != nil { // by the annotations that came before
			e.LogicalType = *known
		}
	} else {
		name = e.LogicalType.Value.String()
	}
	switch logical := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType, *format.NullType:
		return validText, nil
	case *format.UUIDType:
		return always(func(v parquet.Value) string {
			b := v.ByteArray()
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		})
	case *format.DecimalType:
		if scale := int(logical.Scale); scale >= 0 && scale <= mostScale {
			ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
			return always(func(v parquet.Value) string { return new(big.Rat).SetFrac(unscaled(v), ten).FloatString(scale) })
		}
	case *format.IntType:
		switch {
		case logical.IsSigned:
			return always(func(v parquet.Value) string { return unscaled(v).String() })
		case t.Kind() == parquet.Int32:
			return always(func(v parquet.Value) string { return strconv.FormatUint(uint64(v.Uint32()), 10) })
		}
		return always(func(v parquet.Value) string { return strconv.FormatUint(v.Uint64(), 10) })
	case nil:
		switch t.Kind() {
		case parquet.ByteArray, parquet.FixedLenByteArray:
			if !e.ConvertedType.Valid { // which leaves INTERVAL
				return validText, nil
			}
		case parquet.Int32, parquet.Int64:
			return always(func(v parquet.Value) string { return unscaled(v).String() })
		case parquet.Float:
			return func(v parquet.Value) (string, bool, error) { return floatText(float64(v.Float()), 32, 1<<24) }, nil
		case parquet.Double:
			return func(v parquet.Value) (string, bool, error) { return floatText(v.Double(), 64, 1<<53) }, nil
		}
	}
	return nil, fmt.Errorf("is of type %s, which redsi reads neither as a text nor as a number: write the column as one of them, in SQL by CAST(… AS VARCHAR)", name)
}

func validText(v parquet.Value) (string, bool, error) {
	s := string(v.ByteArray())
	if !utf8.ValidString(s) {
		return "", false, faultf(nq.BadUTF8, "a text is not UTF-8")
	}
	return s, true, nil
}

// floatText writes whole numbers as integers, which pandas makes floats of in a column with
// gaps; the gaps may be NaN. From most on integers have lost digits.
func floatText(v float64, bits int, most float64) (string, bool, error) {
	switch {
	case math.IsNaN(v):
		return "", false, nil
	case math.Abs(v) >= most:
		return "", false, faultf(nq.BadType, "%v is too large for the floating-point column to have all its digits: write the column as integers or texts", v)
	case v == 0:
		return "0", true, nil
	case math.Abs(v) < 1e-6:
		return strconv.FormatFloat(v, 'g', -1, bits), true, nil
	}
	return strconv.FormatFloat(v, 'f', -1, bits), true, nil
}

// unscaled is an integer, in bytes in two's complement with the highest first.
func unscaled(v parquet.Value) *big.Int {
	switch v.Kind() {
	case parquet.Int32:
		return big.NewInt(int64(v.Int32()))
	case parquet.Int64:
		return big.NewInt(v.Int64())
	}
	b := v.ByteArray()
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}
