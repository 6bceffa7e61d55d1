package columns

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// mostFloat32 bounds decimals that a float32 keeps exactly: parquet-go v0.32.0 reads decimals of INT32 as float32.
const mostFloat32 = 4_000_000

// Typed converts the values of an object of Objects by their logical types, as JSON of the same table has them: integers to
// json.Number, other numbers to float64, dates and times to texts of ISO 8601. An error names the column.
func (f *File) Typed(row map[string]any) (any, error) { return typed(f.table.Schema(), "", row) }

func typed(node parquet.Node, name string, v any) (_ any, err error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		for _, field := range node.Fields() {
			if v[field.Name()], err = typed(field, name+"."+field.Name(), v[field.Name()]); err != nil {
				return nil, err
			}
		}
		return v, nil
	case []any:
		if !node.Leaf() && !node.Repeated() { // a list of the standard's three levels
			node = node.Fields()[0].Fields()[0]
		} else {
			node = parquet.Required(node)
		}
		for i := range v {
			if v[i], err = typed(node, name, v[i]); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	t := node.Type()
	if v, ok := leaf(t, v); ok {
		return v, nil
	}
	return nil, fmt.Errorf("column %q is of type %s, which is not read: write it as a text or a number, in SQL by CAST(… AS VARCHAR)", name[1:], t)
}

// leaf converts a value by the logical type of its column; false for a type that is not read.
func leaf(t parquet.Type, v any) (_ any, ok bool) {
	var logical any
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	if i, is := logical.(*format.IntType); is && !i.IsSigned {
		switch n := v.(type) {
		case int32:
			v = uint32(n)
		case int64:
			v = uint64(n)
		}
	}
	rounded := func(v float64, verb byte, digits, bits int) (any, bool) {
		v, err := strconv.ParseFloat(strconv.FormatFloat(v, verb, digits, bits), 64)
		return v, err == nil
	}
	switch is := logical.(type) {
	case *format.DecimalType:
		switch v := v.(type) {
		case *big.Float:
			return json.Number(v.Text('f', int(is.Scale))), true
		case float64:
			return rounded(v, 'f', int(is.Scale), 64)
		case float32:
			if math.Abs(float64(v))*math.Pow10(int(is.Scale)) < mostFloat32 {
				return rounded(float64(v), 'f', int(is.Scale), 32)
			}
		}
	case *format.DateType:
		days, ok := v.(int32)
		return time.Unix(int64(days)*24*60*60, 0).UTC().Format(time.DateOnly), ok
	case *format.TimestampType:
		at, ok := v.(int64)
		layout, unit := "2006-01-02T15:04:05.999999999", int64(is.Unit.Value.Duration())
		if is.IsAdjustedToUTC {
			layout += "Z"
		}
		second := int64(time.Second) / unit
		return time.Unix(at/second, at%second*unit).UTC().Format(layout), ok
	case *format.UUIDType:
		b, ok := v.([]byte)
		if !ok || len(b) != 16 {
			return nil, false
		}
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true
	case *format.IntType, *format.StringType, *format.EnumType, *format.JsonType, nil:
		switch v := v.(type) {
		case bool, float64:
			return v, true
		case float32:
			return rounded(float64(v), 'g', -1, 32)
		case int32, int64, uint32, uint64:
			return json.Number(fmt.Sprint(v)), true
		case string:
			return v, utf8.ValidString(v)
		case []byte:
			return string(v), t.Kind() == parquet.ByteArray && utf8.Valid(v)
		}
	}
	return nil, false
}
