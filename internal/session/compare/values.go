package compare

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/lists"
)

// Bounds of what is compared by content; what is larger, or more in a step, is compared by size.
const (
	jsonCompared  = 16 << 20 // bytes
	textCompared  = 1 << 20  // bytes
	filesCompared = 50       // of a step
)

// Value is a number or text that differs: a cell of a table or figure, or a JSON field.
type Value struct {
	At   string `json:"at"`             // ROW.COLUMN, SERIES.POINT.y, or the path of a field
	Name string `json:"name,omitempty"` // of a cell, for people: its column and row
	A    string `json:"a,omitempty"`    // a cell as printed, a field as JSON; "": none
	B    string `json:"b,omitempty"`

	ANumber *float64 `json:"a_number,omitempty"` // of a cell, not rounded
	BNumber *float64 `json:"b_number,omitempty"`
}

// contents fills in how two outputs differ, if they are tables, JSON or text.
func (d *Output) contents(ctx context.Context, store *artifacts.Resolver, x, y artifacts.Artifact) error {
	kind, form, _ := strings.Cut(y.Type, "/")
	rendered := kind == "table" || kind == "figure"
	d.Rendering = rendered && form != "json"
	if d.A.IsZero() || d.B.IsZero() || max(x.Size, y.Size) > jsonCompared || d.Rendering {
		return nil
	}
	before, err := artifacts.ReadBlob(ctx, store, x.Digest, artifacts.AnySize)
	if err != nil {
		return err
	}
	after, err := artifacts.ReadBlob(ctx, store, y.Digest, artifacts.AnySize)
	if err != nil {
		return err
	}
	if rendered {
		if d.Values, err = diffCells(kind, before, after); err != nil || len(d.Values) > 0 {
			return err
		}
	}
	m, isJSON := fromJSON(before)
	if n, too := fromJSON(after); isJSON && too {
		d.Values = diffFields(m, n)
		return nil
	}
	if max(x.Size, y.Size) <= textCompared && isText(before) && isText(after) {
		_, d.Lines, _ = strings.Cut(string(diff.Diff("a", before, "b", after)), "\n+++ b\n") // no headers
	}
	return nil
}

func isText(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

// diffCells compares two tables or figures cell by cell, in the order of the second.
func diffCells(kind string, before, after []byte) (ds []Value, err error) {
	old, err := render.ReadNamed(before, kind == "table")
	if err != nil {
		return nil, err
	}
	now, err := render.ReadNamed(after, kind == "table")
	if err != nil {
		return nil, err
	}
	was := lists.By(old, func(c render.Named) string { return c.Name })
	add := func(is render.Named, d Value) {
		d.At, d.Name = is.Name, is.Head+", row "+is.Row
		if kind == "figure" {
			d.Name = is.Head + " of " + is.Row
		}
		ds = append(ds, d)
	}
	for _, c := range now {
		o, ok := was[c.Name]
		delete(was, c.Name)
		if !ok || o.Text != c.Text || !sameNumber(o.Cell.Value, c.Cell.Value) {
			add(c, Value{A: o.Text, B: c.Text, ANumber: o.Cell.Value, BNumber: c.Cell.Value})
		}
	}
	for _, c := range old {
		if _, gone := was[c.Name]; gone {
			add(c, Value{A: c.Text, ANumber: c.Cell.Value})
		}
	}
	return ds, nil
}

func sameNumber(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// fromJSON reads a JSON document that is an object or a list.
func fromJSON(b []byte) (x any, ok bool) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	ok = dec.Decode(&x) == nil && !dec.More()
	return x, ok
}

// diffFields compares two documents down to their leaves, in the order of their paths.
func diffFields(before, after any) (ds []Value) {
	old, now := map[string]string{}, map[string]string{}
	fieldsOf(old, "", before)
	fieldsOf(now, "", after)
	for _, at := range lists.Unique(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(now))))) {
		if a, b := old[at], now[at]; a != b { // a leaf is never ""
			ds = append(ds, Value{At: at, A: a, B: b})
		}
	}
	return ds
}

// fieldsOf collects the leaves of a document as JSON, by their paths.
func fieldsOf(to map[string]string, path string, v any) {
	below := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			fieldsOf(to, below(name), x)
		}
	case []any:
		for i, x := range v {
			fieldsOf(to, below(strconv.Itoa(i)), x)
		}
	default:
		b, _ := json.Marshal(v) // what came from JSON
		to[path] = string(b)
	}
}

// After is the second run's value, unrounded where both print the same.
func (v Value) After() string {
	if v.A == v.B && v.ANumber != nil && v.BNumber != nil {
		return fmt.Sprintf("%s (%v → %v, not rounded)", v.B, *v.ANumber, *v.BNumber)
	}
	return cmp.Or(v.B, "none")
}
