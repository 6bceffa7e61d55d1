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

// textOf returns a value of a column as CSV and JSON of the same table have it; false if it is missing.
type textOf func(parquet.Value) (text string, ok bool, err error)

// mostScale bounds the digits after the point of a decimal number; writers have 76 at most.
const mostScale = 1000

// textsOf returns the reader for a leaf's logical or else stored type. Types with several text forms, as dates, are errors.
func textsOf(t parquet.Type, e format.SchemaElement) (textOf, error) {
	name := t.String()
	if e.LogicalType.Value == nil {
		if converted := t.LogicalType(); converted != nil { // from the older annotations
			e.LogicalType = *converted
		}
	} else {
		name = e.LogicalType.Value.String()
	}
	switch logical := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType, *format.NullType:
		return validText, nil
	case *format.UUIDType:
		return func(v parquet.Value) (string, bool, error) {
			b := v.ByteArray()
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true, nil
		}, nil
	case *format.DecimalType:
		if scale := int(logical.Scale); scale >= 0 && scale <= mostScale {
			return decimal(true, scale), nil
		}
	case *format.IntType:
		return decimal(logical.IsSigned, 0), nil
	case nil:
		switch t.Kind() {
		case parquet.ByteArray, parquet.FixedLenByteArray:
			if !e.ConvertedType.Valid { // which leaves INTERVAL
				return validText, nil
			}
		case parquet.Int32, parquet.Int64:
			return decimal(true, 0), nil
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
		return "", false, nq.Faultf(nq.BadUTF8, "a text is not UTF-8")
	}
	return s, true, nil
}

// floatText writes integers, which pandas stores as floats beside gaps (NaN), without a point; NaN is missing.
func floatText(v float64, bits int, most float64) (string, bool, error) {
	switch {
	case math.IsNaN(v):
		return "", false, nil
	case math.Abs(v) >= most:
		return "", false, nq.Faultf(nq.BadType, "%v is too large for the floating-point column to have all its digits: write the column as integers or texts", v)
	case v == 0:
		return "0", true, nil
	case math.Abs(v) < 1e-6:
		return strconv.FormatFloat(v, 'g', -1, bits), true, nil
	}
	return strconv.FormatFloat(v, 'f', -1, bits), true, nil
}

// decimal returns the reader for numbers with scale digits behind the point: 32 or 64 bits, or big-endian two's complement.
func decimal(signed bool, scale int) textOf {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return func(v parquet.Value) (string, bool, error) {
		n := new(big.Int)
		switch kind := v.Kind(); {
		case kind == parquet.Int32 && signed:
			n.SetInt64(int64(v.Int32()))
		case kind == parquet.Int32:
			n.SetUint64(uint64(v.Uint32()))
		case kind == parquet.Int64 && signed:
			n.SetInt64(v.Int64())
		case kind == parquet.Int64:
			n.SetUint64(v.Uint64())
		default:
			b := v.ByteArray()
			if n.SetBytes(b); len(b) > 0 && b[0] >= 0x80 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		if scale == 0 {
			return n.String(), true, nil
		}
		return new(big.Rat).SetFrac(n, ten).FloatString(scale), true, nil
	}
}
