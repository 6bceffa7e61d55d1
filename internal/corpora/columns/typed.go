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

// mostFloat32 bounds decimal numbers, without their point, of which the library's float32 keeps all digits.
const mostFloat32 = 4_000_000

// Typed has the values of an object of Objects by their logical types, as JSON of the same table has them: whole numbers are
// json.Number, other numbers float64, dates and times texts of ISO 8601. An error names the column.
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
	t, is := node.Type(), any(nil)
	if logical := t.LogicalType(); logical != nil {
		is = logical.Value
	}
	unread := fmt.Errorf("column %q is of type %s, which is not read: write it as a text or a number, in SQL by CAST(… AS VARCHAR)", name[1:], t)
	switch v := v.(type) {
	case bool:
		return v, nil
	case *big.Float:
		return json.Number(v.Text('f', scaleOf(is))), nil
	case float64:
		if _, ok := is.(*format.DecimalType); ok {
			return strconv.ParseFloat(strconv.FormatFloat(v, 'f', scaleOf(is), 64), 64)
		}
		return v, nil
	case float32:
		if _, ok := is.(*format.DecimalType); !ok {
			return strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		} else if math.Abs(float64(v))*math.Pow10(scaleOf(is)) < mostFloat32 {
			return strconv.ParseFloat(strconv.FormatFloat(float64(v), 'f', scaleOf(is), 32), 64)
		}
	case int32:
		if _, ok := is.(*format.DateType); ok {
			return time.Unix(int64(v)*24*60*60, 0).UTC().Format(time.DateOnly), nil
		}
		return whole(is, int64(v), uint64(uint32(v)), unread)
	case uint32:
		return whole(is, int64(v), uint64(v), unread)
	case int64:
		if at, ok := is.(*format.TimestampType); ok {
			layout := "2006-01-02T15:04:05.999999999"
			if at.IsAdjustedToUTC {
				layout += "Z"
			}
			second := int64(time.Second / at.Unit.Value.Duration())
			return time.Unix(v/second, v%second*int64(at.Unit.Value.Duration())).UTC().Format(layout), nil
		}
		return whole(is, v, uint64(v), unread)
	case uint64:
		return whole(is, int64(v), v, unread)
	case string:
		if utf8.ValidString(v) {
			return v, nil
		}
	case []byte:
		if _, ok := is.(*format.UUIDType); ok && len(v) == 16 {
			return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:]), nil
		}
		if t.Kind() == parquet.ByteArray && is == nil && utf8.Valid(v) {
			return string(v), nil
		}
	}
	return nil, unread
}

func scaleOf(is any) int {
	d, _ := is.(*format.DecimalType)
	return int(d.Scale)
}

// whole is a whole number of a column of them.
func whole(is any, signed int64, unsigned uint64, unread error) (any, error) {
	switch is := is.(type) {
	case nil:
		return json.Number(strconv.FormatInt(signed, 10)), nil
	case *format.IntType:
		if !is.IsSigned {
			return json.Number(strconv.FormatUint(unsigned, 10)), nil
		}
		return json.Number(strconv.FormatInt(signed, 10)), nil
	}
	return nil, unread
}
