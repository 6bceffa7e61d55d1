package collect

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// textOf is a value of a column as CSV and JSON of the same table have it; false if it is
// missing.
type textOf func(parquet.Value) (text string, ok bool, err error)

// textsOf reads the values of a leaf of a table by its logical type. One that has several
// forms as a text, such as a date, or none is an error.
func textsOf(t parquet.Type, table *parquet.File, leaf int) (textOf, error) {
	e := leafElement(table, leaf)
	logical, name := e.LogicalType.Value, t.String()
	if known := t.LogicalType(); logical == nil && known != nil {
		logical = known.Value // of the annotations that came before logical types
	}
	if logical != nil {
		name = logical.String()
	}
	switch logical := logical.(type) {
	case nil:
		if e.ConvertedType.Valid {
			break
		}
		return physicalText(t.Kind(), name)
	case *format.StringType, *format.EnumType, *format.JsonType, *format.NullType:
		return validText, nil
	case *format.UUIDType:
		return always(uuidText), nil
	case *format.DecimalType:
		if logical.Scale < 0 || logical.Scale > mostScale {
			break
		}
		return always(func(v parquet.Value) string { return decimalText(v, int(logical.Scale)) }), nil
	case *format.IntType:
		switch {
		case logical.IsSigned:
			return physicalText(t.Kind(), name)
		case t.Kind() == parquet.Int32:
			return always(func(v parquet.Value) string { return strconv.FormatUint(uint64(v.Uint32()), 10) }), nil
		}
		return always(func(v parquet.Value) string { return strconv.FormatUint(v.Uint64(), 10) }), nil
	}
	return nil, noText(name)
}

func noText(name string) error {
	return fmt.Errorf("is of type %s, which redsi reads neither as a text nor as a number: write the column as one of them, in SQL by CAST(… AS VARCHAR)", name)
}

// mostScale is of digits after the point of a decimal number; known writers have 76 at most.
const mostScale = 1000

// leafElement is what a table's schema says of a leaf.
func leafElement(table *parquet.File, leaf int) *format.SchemaElement {
	elements := table.Metadata().Schema
	for i := range elements {
		if elements[i].Type.Valid {
			if leaf--; leaf < 0 {
				return &elements[i]
			}
		}
	}
	return &format.SchemaElement{}
}

// physicalText reads what has no logical type that says more.
func physicalText(kind parquet.Kind, name string) (textOf, error) {
	switch kind {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return validText, nil
	case parquet.Int32, parquet.Int64:
		return always(func(v parquet.Value) string { return strconv.FormatInt(wholeOf(v), 10) }), nil
	case parquet.Float:
		return func(v parquet.Value) (string, bool, error) { return floatText(float64(v.Float()), 32) }, nil
	case parquet.Double:
		return func(v parquet.Value) (string, bool, error) { return floatText(v.Double(), 64) }, nil
	}
	return nil, noText(name)
}

// always reads what every value of a column has.
func always(text func(parquet.Value) string) textOf {
	return func(v parquet.Value) (string, bool, error) { return text(v), true, nil }
}

func wholeOf(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func validText(v parquet.Value) (string, bool, error) {
	s := string(v.ByteArray())
	if !utf8.ValidString(s) {
		return "", false, faultf(nq.BadUTF8, "a text is not UTF-8")
	}
	return s, true, nil
}

// floatText writes whole numbers as integers, which pandas makes floats of in a column with
// gaps; the gaps may be NaN. One beyond the integers that a float tells apart has lost digits.
func floatText(v float64, bits int) (string, bool, error) {
	switch {
	case math.IsNaN(v):
		return "", false, nil
	case math.Abs(v) >= map[int]float64{32: 1 << 24, 64: 1 << 53}[bits]:
		return "", false, faultf(nq.BadType, "%v is too large for the floating-point column to have all its digits: write the column as integers or texts", v)
	case v == math.Trunc(v):
		return strconv.FormatInt(int64(v), 10), true, nil
	}
	form := byte('f')
	if math.Abs(v) < 1e-6 {
		form = 'g'
	}
	return strconv.FormatFloat(v, form, -1, bits), true, nil
}

// decimalText has as many digits after the point as the column's scale.
func decimalText(v parquet.Value, scale int) string {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		n.SetInt64(wholeOf(v))
	default: // two's complement, the highest byte first
		b := v.ByteArray()
		if n.SetBytes(b); len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	if scale == 0 {
		return n.String()
	}
	digits := new(big.Int).Abs(n).String()
	digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
	text := digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}

func uuidText(v parquet.Value) string {
	s := hex.EncodeToString(v.ByteArray())
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
