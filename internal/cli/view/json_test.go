package view

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/errtest"
)

func TestWriteJSONLists(t *testing.T) {
	type inner struct {
		Names []string `json:"names"`
	}
	type outer struct {
		inner                  // no field that can be set
		In    inner            `json:"in"`
		At    *inner           `json:"at"`
		Nil   *inner           `json:"nil"`
		Any   any              `json:"any"`
		Left  []inner          `json:"left,omitempty"`
		Zero  []inner          `json:"zero,omitzero"`
		Some  []inner          `json:"some"`
		By    map[string]inner `json:"by"`
		Raw   json.RawMessage  `json:"raw"`
	}
	for want, v := range map[string]any{
		"[]":                   []string(nil),
		"null":                 nil,
		"12345678901234567890": json.Number("12345678901234567890"), // not a text
		`{"a":[],"b":null,"c":[],"d":{"names":[]},"e":{"x":[]}}`: map[string]any{"a": []string(nil), "b": nil, "c": any([]int(nil)), "d": inner{}, "e": map[string][]int{"x": nil}},
		`{"names":["x"],"in":{"names":[]},"at":{"names":[]},"nil":null,"any":[],"some":[{"names":[]}],"by":{"k":{"names":[]}},"raw":null}`: outer{inner: inner{[]string{"x"}}, At: &inner{},
			Any: []any(nil), Some: []inner{{}}, By: map[string]inner{"k": {}}},
	} {
		var b, tight bytes.Buffer
		errtest.None(t, WriteJSON(&b, v))
		if err := json.Compact(&tight, b.Bytes()); err != nil || tight.String() != want {
			t.Errorf("%s, not %s: %v", tight.String(), want, err)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{40 * time.Millisecond: "0.0 s", 9949 * time.Millisecond: "9.9 s", 9970 * time.Millisecond: "10 s", 119400 * time.Millisecond: "119 s",
		119700 * time.Millisecond: "2 min 0 s", 7199700 * time.Millisecond: "2 h 0 min", 199700 * time.Millisecond: "3 min 20 s", 78 * time.Hour: "78 h 0 min"} {
		if got := Seconds(d); got != want {
			t.Errorf("%v is printed as %s, want %s", d, got, want)
		}
	}
}
