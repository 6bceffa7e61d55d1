package view

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"

	"github.com/redsi/redsi/internal/system/escape"
)

// WriteJSON prints a value as indented JSON with a newline. An empty list is [], never null,
// also inside what v points to. Control characters are written as JSON escapes.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(listed(reflect.ValueOf(v))); err != nil {
		return err
	}
	_, err := w.Write(escape.JSON(b.Bytes()))
	return err
}

// listed is a value with empty slices instead of nil ones.
func listed(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	fillLists(c)
	return c.Interface()
}

// fillLists makes nil slices of a settable value empty ones.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(reflect.ValueOf(listed(v.Elem())))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && !strings.Contains(v.Type().Field(i).Tag.Get("json"), ",omitzero") {
				fillLists(f)
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if x := v.MapIndex(k); x.Kind() != reflect.Interface || !x.IsNil() {
				v.SetMapIndex(k, reflect.ValueOf(listed(x)))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // bytes are not a list
			return
		}
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}
