package step

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// Change is one difference between two preimages.
type Change struct {
	Path     string // such as "config.options.lists" or "version"
	Old, New string // canonical JSON; "" where there is nothing
}

func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s is new: %s", c.Path, excerpt(c.New, 0))
	case c.New == "":
		return fmt.Sprintf("%s is gone (was %s)", c.Path, excerpt(c.Old, 0))
	}
	from := 0
	if max(len(c.Old), len(c.New)) > widest {
		from = max(0, commonPrefix(c.Old, c.New)-around)
	}
	return fmt.Sprintf("%s: %s -> %s", c.Path, excerpt(c.Old, from), excerpt(c.New, from))
}

// Of a long value so many bytes are shown, and so many of those before the first
// that differs.
const widest, around = 60, 20

// excerpt is a value from a byte on, cut for one line; a digest keeps its head.
func excerpt(s string, from int) string {
	const digest = `{"$input":"sha256:`
	if rest, ok := strings.CutPrefix(s, digest); ok && len(rest) > 12 {
		_, mode, _ := strings.Cut(strings.TrimRight(rest, `"}`), " ")
		return strings.TrimSpace("bytes " + rest[:12] + " " + mode)
	}
	head, tail := "", ""
	if from > 0 {
		head, s = "…", s[from:]
	}
	if len(s) > widest {
		s, tail = s[:widest-3], "…"
	}
	return head + strings.ToValidUTF8(s, "") + tail
}

// commonPrefix is the length of the longest beginning of both.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Attribute is the top-level attribute that the change is in; "" if it is not
// in the configuration.
func (c Change) Attribute() string {
	rest, ok := strings.CutPrefix(c.Path, "config.")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		return rest[:i]
	}
	return rest
}

// Diff compares two preimages down to their leaves, in path order.
func Diff(before, after []byte) ([]Change, error) {
	x, err := parsePreimage(before)
	if err != nil {
		return nil, err
	}
	y, err := parsePreimage(after)
	if err != nil {
		return nil, err
	}
	var out []Change
	diffTree(x, y, "", &out)
	return out, nil
}

func parsePreimage(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("a stored preimage is not JSON: %w", err)
	}
	return v, nil
}

func diffTree(a, b any, path string, out *[]Change) {
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if okX && okY && x[digestField] == nil && y[digestField] == nil {
		all := maps.Clone(x)
		maps.Copy(all, y)
		for _, k := range sortedKeys(all) {
			diffTree(x[k], y[k], join(path, k), out)
		}
		return
	}
	l, okL := a.([]any)
	m, okM := b.([]any)
	if okL && okM {
		for i := range max(len(l), len(m)) {
			diffTree(elementAt(l, i), elementAt(m, i), fmt.Sprintf("%s[%d]", path, i), out)
		}
		return
	}
	s, t := leafText(a), leafText(b)
	if s != t {
		*out = append(*out, Change{Path: path, Old: s, New: t})
	}
}

func elementAt(l []any, i int) any {
	if i < len(l) {
		return l[i]
	}
	return nil
}

func leafText(v any) string {
	if v == nil {
		return ""
	}
	b, err := Canonical(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
