package alike

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/step"
)

type numbers struct {
	*meter
	rule   step.Numbers
	fields *step.Fields
}

func (n numbers) compare(a, b io.Reader) error { return unpacked(a, b, n.documents) }

// unpacked compares two files that are compressed or not.
func unpacked(a, b io.Reader, compare func(a, b io.Reader) error) error {
	x, err := unpack.Open(a)
	if err != nil {
		return fmt.Errorf("the stored result: %w", err)
	}
	defer x.Close()
	y, err := unpack.Open(b)
	if err != nil {
		return fmt.Errorf("the new result: %w", err)
	}
	defer y.Close()
	return compare(x, y)
}

func (n numbers) documents(a, b io.Reader) error {
	x, y := json.NewDecoder(a), json.NewDecoder(b)
	x.UseNumber()
	y.UseNumber()
	for line := 1; ; line++ {
		v, more, err := next(x)
		if err != nil {
			return fmt.Errorf("the stored result is not JSON: %w", err)
		}
		w, too, err := next(y)
		if err != nil {
			return fmt.Errorf("the new result is not JSON: %w", err)
		}
		if !more && !too {
			return nil
		}
		at := place{}
		if line > 1 || x.More() || y.More() {
			at.line = line
		}
		n.at = at
		if more != too {
			n.unlike(at.String(), "", "", "one has more documents than the other")
			return nil
		}
		n.value(at, v, w, n.fields)
	}
}

// place is a path in JSON: names, and numbers of elements.
type place struct {
	line  int // of several documents
	parts []string
	names []string // parts with [] for elements
}

func (p place) name(s string) place {
	return place{p.line, append(slices.Clip(p.parts), s), append(slices.Clip(p.names), s)}
}

func (p place) element(i int) place {
	return place{p.line, append(slices.Clip(p.parts), strconv.Itoa(i)), append(slices.Clip(p.names), "[]")}
}

func (p place) String() string { return p.inLine(strings.Join(p.parts, ".")) }

// inLine returns a path with the line of its document, if there are several.
func (p place) inLine(path string) string {
	if p.line == 0 {
		return path
	}
	return strings.TrimSuffix(fmt.Sprintf("line %d: %s", p.line, path), ": ")
}

// indexed returns the path as programs write it: points[3].loss.
func (p place) indexed() string {
	var b strings.Builder
	for i, part := range p.parts {
		switch {
		case p.names[i] == "[]":
			part = "[" + part + "]"
		case i > 0:
			part = "." + part
		}
		b.WriteString(part)
	}
	return p.inLine(b.String())
}

// margin returns the margin of the field at a place, if it has its own.
func margin(fields map[string]step.Margin, p place) (step.Margin, bool) {
	for _, pattern := range slices.Sorted(maps.Keys(fields)) {
		if matches(pattern, p.names) {
			return fields[pattern], true
		}
	}
	return step.Margin{}, false
}

// matches compares a pattern such as "points[].metrics.*" with the parts of a path. A name may contain dots, so that a
// pattern without stars also matches its path word for word.
func matches(pattern string, names []string) bool {
	if pattern == strings.ReplaceAll(strings.Join(names, "."), ".[]", "[]") {
		return true
	}
	var parts []string
	for _, part := range strings.Split(pattern, ".") {
		name := strings.TrimRight(part, "[]")
		if name != "" {
			parts = append(parts, name)
		}
		for range strings.Count(part[len(name):], "[]") {
			parts = append(parts, "[]")
		}
	}
	return slices.EqualFunc(parts, names, func(part, name string) bool { return part == name || part == "*" && name != "[]" })
}

// value compares the values at a place that f declares, unless it is nil.
func (n numbers) value(p place, v, w any, f *step.Fields) {
	if reflect.DeepEqual(v, w) {
		return
	}
	own, owns := margin(n.rule.Fields, p)
	if n.at = p; owns && own.Skip {
		n.ofTheRun = true
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if w, ok := w.(map[string]any); ok {
			n.object(p, v, w, f)
			return
		}
	case []any:
		if w, ok := w.([]any); ok {
			n.list(p, v, w, f)
			return
		}
	case json.Number:
		if w, ok := w.(json.Number); ok {
			m := n.rule.Margin
			switch {
			case owns:
				m = own
			case areIntegers(f, v, w):
				m = step.Margin{}
			}
			n.numbers(p.String(), v, w, m)
			return
		}
	}
	n.unlike(p.String(), text(v), text(w), "")
}

func areIntegers(f *step.Fields, v, w json.Number) bool {
	if f != nil && f.Type != step.Any {
		return f.Type == step.Int
	}
	return !strings.ContainsAny(string(v)+string(w), ".eE")
}

func (m *meter) numbers(path string, v, w json.Number, by step.Margin) {
	x, err := v.Float64()
	y, err2 := w.Float64()
	if err != nil || err2 != nil {
		m.unlike(path, string(v), string(w), "")
		return
	}
	d := math.Abs(x - y)
	if d == 0 && by == (step.Margin{}) && v != w && len(v)+len(w) > 30 { // integers that no float64 tells apart
		m.unlike(path, string(v), string(w), "")
		return
	}
	m.number(path, string(v), string(w), d, by.Allows(x, y))
}

func (n numbers) object(p place, v, w map[string]any, f *step.Fields) {
	for _, name := range union(v, w) {
		at := p.name(name)
		a, there := v[name]
		b, here := w[name]
		if m, owns := margin(n.rule.Fields, at); there != here && !(owns && m.Skip) {
			n.at = at
			n.unlike(at.String(), text(a), text(b), "only one has the field")
			continue
		}
		n.value(at, a, b, member(f, name))
	}
}

func member(f *step.Fields, name string) *step.Fields {
	switch {
	case f == nil:
		return nil
	case f.Type == step.Map:
		return f.Elem
	}
	for i := range f.Object {
		if f.Object[i].Name == name {
			return &f.Object[i].Fields
		}
	}
	return nil
}

func (n numbers) list(p place, v, w []any, f *step.Fields) {
	if len(v) != len(w) {
		n.unlike(p.String(), fmt.Sprintf("%d elements", len(v)), fmt.Sprintf("%d elements", len(w)), "")
		return
	}
	var elem *step.Fields
	if f != nil && f.Type == step.List {
		elem = f.Elem
	}
	for i := range v {
		n.value(p.element(i), v[i], w[i], elem)
	}
}

func text(v any) string {
	if v == nil {
		return ""
	}
	b, _ := json.Marshal(v) // v came from JSON
	return string(b)
}

func next(d *json.Decoder) (v any, more bool, err error) {
	err = d.Decode(&v)
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false, nil
	}
	return v, err == nil, err
}
